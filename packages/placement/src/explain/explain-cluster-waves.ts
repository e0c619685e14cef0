import type { WavesExplanation } from './verdict/explanation.ts';
import type { ClusterWaveFinding } from './verdict/explanation.ts';

/** The wave of one cluster in each ApplicationSet that assigns one to it. */
export function clusterWaves(
  waves: readonly WavesExplanation[],
  cluster: string,
): readonly ClusterWaveFinding[] {
  return waves.flatMap(({ applicationSet, waves: all }) =>
    all.flatMap(({ wave, why, served, waiting }): readonly ClusterWaveFinding[] => {
      if (served.includes(cluster)) return [{ applicationSet, wave, isServed: true, why: undefined }];
      if (!waiting.includes(cluster)) return [];
      return [{ applicationSet, wave, isServed: false, why: why ?? OPENED }];
    }),
  );
}

const OPENED = 'its wave is open, and Berth has not written yet that it is served';
