/**
 * A limit that the software has to hit on purpose, as low as a test wants it to be quick, and far above what a healthy `sample` takes
 * on this machine: on a slow one a low limit would break everything, not only what is broken.
 */
export async function limitAbove(leastMs: number, sample: () => Promise<unknown>): Promise<number> {
  // The first one pays for what is loaded and compiled.
  await sample();
  let slowestMs = 0;
  for (let round = 0; round < 3; round++) {
    const begunAtMs = performance.now();
    await sample();
    slowestMs = Math.max(slowestMs, performance.now() - begunAtMs);
  }
  return Math.max(leastMs, 20 * slowestMs);
}
