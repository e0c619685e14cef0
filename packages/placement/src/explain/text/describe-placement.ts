import {
  type DecisionChange,
  type PlacementExplanation,
  type ScoreFinding,
  type WaveExplanation,
  type WavesExplanation,
  MAX_NAMED_CLUSTERS,
} from '../verdict/explanation.ts';
import { type CutLine, decisionTable } from './decision-table.ts';
import { originWord } from './describe-change.ts';
import { alignColumns, describeHold } from './describe-pair.ts';

const MAX_SELECTED_ROWS = 50;

/** A placement explanation as lines of text. */
export function describePlacement(explanation: PlacementExplanation): readonly string[] {
  const { placement, summary, message, hints, eligibleSets, refusals, reschedulesAt } = explanation;
  return [
    ...describeHold(explanation.held),
    `Placement ${placement.namespace}/${placement.name}: ${summary}`,
    ...message.split('\n').map((line) => `  ${line}`),
    ...hints.map((hint) => `  hint: ${hint}`),
    ...(eligibleSets.length === 0 ? [] : [`  cluster sets that count: ${eligibleSets.join(', ')}`]),
    ...(reschedulesAt === undefined
      ? []
      : [`  decided again at ${reschedulesAt}, when a toleration runs out`]),
    ...section('Selected:', selectedLines(explanation)),
    ...nextSection(explanation),
    ...section('Not selected:', refusals.map(refusalLine)),
    ...section('Since the last decision:', changeLines(explanation)),
    ...(explanation.waves ?? []).flatMap((waves) =>
      section(`Waves of ApplicationSet ${waves.applicationSet}:`, describeWaves(waves)),
    ),
  ];
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function selectedLines({ selected }: PlacementExplanation): readonly string[] {
  if (selected.length === 0) return [];
  const shown = selected.slice(0, MAX_SELECTED_ROWS);
  const rows = shown.map(({ cluster, score }) => [cluster, String(score.total), partsText(score)]);
  const left = selected.length - shown.length;
  return [
    ...alignColumns([['CLUSTER', 'SCORE', 'FROM'], ...rows]),
    ...(left === 0 ? [] : [`… and ${left} more`]),
  ];
}

function nextSection(explanation: PlacementExplanation): readonly string[] {
  const { cut, next, moreNext } = decisionTable(explanation);
  const rows = explanation.next.map(({ cluster, score }, at) => [
    cluster,
    String(score.total),
    partsText(score),
    next[at]?.flipsIf ?? '',
  ]);
  if (rows.length === 0) return [];
  return section(`Next in line${cutText(cut)}:`, [
    ...alignColumns([['CLUSTER', 'SCORE', 'FROM', 'SELECTED IF'], ...rows]),
    ...(moreNext === 0 ? [] : [`… and ${moreNext} more`]),
  ]);
}

function cutText(cut: CutLine): string {
  return cut.kind === 'score' ? `, behind ${cut.cluster} with ${cut.total}` : '';
}

/** `Balance 100×1 + AddOn/usage/free 0×1 (expired)` */
function partsText({ parts }: ScoreFinding): string {
  return (
    parts
      .map(
        ({ prioritizer, score, weight, origin }) => `${prioritizer} ${score}×${weight}${originWord(origin)}`,
      )
      .join(' + ') || 'no prioritizer'
  );
}

function refusalLine({ count, text, clusters }: PlacementExplanation['refusals'][number]): string {
  const more = count > clusters.length ? ', …' : '';
  return `${count} ${text} (${clusters.join(', ')}${more})`;
}

function changeLines({ changes }: PlacementExplanation): readonly string[] {
  if (changes === undefined) return [];
  const line = (sign: string, { cluster, because, causes }: DecisionChange): string =>
    `${sign} ${cluster}: ${because}${causes.length === 0 ? '' : `; changed: ${causes.join(', ')}`}`;
  const lines = [
    ...changes.gained.map((change) => line('+', change)),
    ...changes.lost.map((change) => line('-', change)),
  ];
  return lines.length === 0 ? ['no change'] : lines;
}

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
