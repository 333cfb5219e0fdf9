/** What a process answers: a name and a function for each question. */
export type Answers = Record<string, (...questions: any[]) => unknown>;

/** How the parent asks. */
export interface Question {
  id: number;
  name: string;
  values: unknown[];
}

/** What it hears: first that the process is ready, then an answer to each question. */
export type Message = { type: 'ready' } | { type: 'answer'; id: number; value?: unknown; error?: string };

const tell = (message: Message): void => void process.send!(message);

/** Answers what the parent asks until the parent is gone. */
export function answerParent(answers: Answers): void {
  process.on('message', async ({ id, name, values }: Question) => {
    try {
      tell({ type: 'answer', id, value: await answers[name]!(...values) });
    } catch (error) {
      tell({ type: 'answer', id, error: error instanceof Error ? error.stack : String(error) });
    }
  });
  // Nobody is left to stop this process then.
  process.on('disconnect', () => process.exit(1));
  tell({ type: 'ready' });
}
