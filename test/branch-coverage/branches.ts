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
  /** The source line that it begins on, without the indent. */
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
    const source = readSource(path).split('\n');
    const file = path.slice(projectFolder.length + 1);
    const branches = Object.entries(branchMap).flatMap(([id, { locations }]) =>
      locations.map(({ start: { line } }, index) => ({
        file,
        line,
        text: source[line - 1]?.trim() ?? '',
        reached: (b[id]?.[index] ?? 0) > 0,
      })),
    );
    return branches.sort((one, other) => one.line - other.line);
  });
}
