import type { EntityManager } from 'typeorm';

/** How far a request got: what is done is not done again when another attempt goes on after a crash. */
export interface Steps {
  /** @param work gets a key that is the same in every attempt, for the service that it calls */
  step<T>(name: string, work: (stepKey: string) => Promise<T>): Promise<T>;

  /** What `work` does by its manager commits together with the note that it is done. Its result is JSON. */
  transactionalStep<T>(name: string, work: (manager: EntityManager) => Promise<T>): Promise<T>;
}
