import type { WaveExplanation, WavesExplanation } from '../verdict/explanation.ts';
import { MAX_NAMED_CLUSTERS } from '../verdict/explanation.ts';
import { alignColumns } from './describe-pair.ts';

/** The waves of one ApplicationSet as lines of text. */
export function describeWaves({ waves, problem }: WavesExplanation): readonly string[] {
  if (problem !== undefined) return [`not known: ${problem}`];
  const rows = waves.map(({ wave, isOpen, served, waiting }) => [
    `w${wave}`,
    isOpen ? 'open' : 'closed',
    names(served),
    names(waiting),
  ]);
  return [
    ...alignColumns([['WAVE', 'GATE', 'SERVED', 'WAITING'], ...rows]),
    ...closedLines(waves.filter(({ isOpen }) => !isOpen)),
  ];
}

/** All closed waves wait for the same one. */
function closedLines(closed: readonly WaveExplanation[]): readonly string[] {
  const [first] = closed;
  return first === undefined ? [] : [`closed from w${first.wave} on: ${first.why ?? ''}`];
}

function names(clusters: readonly string[]): string {
  const more = clusters.length - MAX_NAMED_CLUSTERS;
  const shown = clusters.slice(0, MAX_NAMED_CLUSTERS).join(', ');
  return clusters.length === 0 ? '-' : more > 0 ? `${shown} and ${more} more` : shown;
}
