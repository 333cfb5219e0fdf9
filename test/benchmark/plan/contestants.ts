import type { BenchmarkOptions } from '../options.js';
import { type AdapterName, VARIANTS, type VariantName } from '../processes/server/settings.js';
import type { CaseName } from './cases.js';
import { FIGURES } from './figures.js';

/** The variants that take part in a case: in a quick run those of its figures alone. */
export function variantsOf(
  name: CaseName,
  adapter: AdapterName,
  { variants, isQuick }: BenchmarkOptions,
): VariantName[] {
  const wanted = VARIANTS.filter((variant) => variants === undefined || variants.includes(variant));
  // Without protection, every request of S4 is executed.
  const able = wanted.filter((variant) => name !== 'S4' || variant !== 'bare');
  if (!isQuick || variants !== undefined) return able;
  const figures = FIGURES.filter((figure) => figure.case === name && figure.targets[adapter] !== undefined);
  const compared = new Set<string | undefined>(
    figures.flatMap(({ contestant, baseline }) => [contestant, baseline]),
  );
  return able.filter((variant) => compared.has(variant));
}
