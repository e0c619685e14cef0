import type { ClusterWaveFinding } from '../verdict/explanation.ts';

/** `wave w1 of ApplicationSet argocd/shop: served` */
export function describeClusterWave({ applicationSet, wave, isServed, why }: ClusterWaveFinding): string {
  const state = isServed ? 'served' : `waits: ${why ?? ''}`;
  return `wave w${wave} of ApplicationSet ${applicationSet}: ${state}`;
}
