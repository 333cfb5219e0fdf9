import type { Branch } from './branches.js';

/**
 * Why a branch is not reached over HTTP: file → source line → reason. Lines are found by their text, so that
 * a reason stays with its branch when the file changes above it, and is asked for again when the line does.
 */
export type Reasons = Record<string, Record<string, string>>;

export function reasonFor(branch: Branch, reasons: Reasons): string | undefined {
  return reasons[branch.file]?.[branch.text];
}

/** Reasons for what is reached by now, or is gone; as `file: line`. */
export function obsoleteReasons(branches: Branch[], reasons: Reasons): string[] {
  const needed = new Set(
    branches.filter(({ reached }) => !reached).map(({ file, text }) => `${file}: ${text}`),
  );
  return Object.entries(reasons)
    .flatMap(([file, lines]) => Object.keys(lines).map((text) => `${file}: ${text}`))
    .filter((entry) => !needed.has(entry));
}
