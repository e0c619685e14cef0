/** BERTH_INTEROP_EVERY=4 takes every fourth of many slow scenarios: `npm test` compares all of them with the recordings. */
const EVERY = Number(process.env['BERTH_INTEROP_EVERY'] ?? 1);

export function sampled<T>(scenarios: readonly T[]): readonly T[] {
  return scenarios.filter((_, at) => at % EVERY === 0);
}
