/** The part of Istanbul's `coverage-final.json` that is used here. */
export type CoverageReport = Record<
  string,
  {
    branchMap: Record<string, { locations: Array<{ start: { line: number } }> }>;
    /** How often each location of each branch has run. */
    b: Record<string, number[]>;
  }
>;

export interface Branch {
  /** Path from the root of the project. */
  file: string;
  line: number;
  /** The source line that it begins on, without the indent; with the one before when it begins with `}`. */
  text: string;
  reached: boolean;
}

/** All branches of all files, in the order of the source. */
export function branchesOf(
  report: CoverageReport,
  projectFolder: string,
  readSource: (path: string) => string,
): Branch[] {
  return Object.entries(report).flatMap(([path, { branchMap, b }]) => {
    const lines = readSource(path)
      .split('\n')
      .map((line) => line.trim());
    const file = path.slice(projectFolder.length + 1);
    const branches = Object.entries(branchMap).flatMap(([id, { locations }]) =>
      locations.map(({ start: { line } }, index) => ({
        file,
        line,
        text: textAt(lines, line),
        reached: (b[id]?.[index] ?? 0) > 0,
      })),
    );
    return branches.toSorted((one, other) => one.line - other.line);
  });
}

/** `} finally {` alone would be true of many places. */
function textAt(lines: string[], line: number): string {
  let text = lines[line - 1] ?? '';
  for (let above = line - 2; text.startsWith('}') && above >= 0; above--) text = `${lines[above]} ${text}`;
  return text;
}
