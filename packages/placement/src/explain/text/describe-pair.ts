import { formatNameList } from '@berth/runtime/text/name-list';
import type {
  ClusterVerdict,
  HoldFinding,
  PairExplanation,
  ScoreFinding,
  Suggestion,
  TaintFinding,
  ClusterWaveFinding,
} from '../verdict/explanation.ts';
import { describeChange, describeOrigin, describeTaint, describeToleration } from './describe-change.ts';
import { DECIDED_BY_OTHERS_TEXT, failureDetail } from './refusal-text.ts';

/** The explanation of a placement and a cluster as lines of text. */
export function describePair(pair: PairExplanation): readonly string[] {
  const name = `${pair.placement.namespace}/${pair.placement.name}`;
  return [
    ...describeHold(pair.held),
    `Placement ${name} on cluster ${pair.cluster}: ${pair.selected ? 'selected' : 'not selected'}`,
    ...verdictLines(pair.verdict).map((line) => `  ${line}`),
    ...pair.hints.map((hint) => `  hint: ${hint}`),
    ...pair.toleratedTaints.map((taint) => `  taint ${taintLine(taint)}`),
    ...(pair.waves ?? []).map((wave) => `  ${describeClusterWave(wave)}`),
    ...suggestionLines(pair),
  ];
}

/** The hold as lines of text. */
export function describeHold(hold: HoldFinding | undefined): readonly string[] {
  if (hold === undefined) return [];
  const { reason, message, published, wanted } = hold;
  const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : formatNameList(names));
  return [
    `Held (${reason}): published ${list(published)}; wanted ${list(wanted)}`,
    ...message.split('\n').map((line) => `  ${line}`),
    '',
  ];
}

function suggestionLines(pair: PairExplanation): readonly string[] {
  if (pair.selected) return [];
  if (pair.suggestions.length === 0)
    return ['', `No small change would select it.${noSuggestionHint(pair.verdict)}`];
  return [
    '',
    pair.suggestions.length === 1 ? 'What would select it:' : 'What would select it (any one of these):',
    ...pair.suggestions.flatMap((suggestion, i) => suggestionText(suggestion, `  ${i + 1}. `)),
  ];
}

/** More changes than this are listed below each other. */
const MAX_IN_A_LINE = 2;
const MAX_EVICTED = 5;

function suggestionText(suggestion: Suggestion, number: string): readonly string[] {
  const { changes, evicts } = suggestion;
  if (changes.length <= MAX_IN_A_LINE) return [`${number}${describeSuggestion(suggestion)}`];
  const indent = ' '.repeat(number.length);
  const items = changes.map((change) => `${indent}- ${describeChange(change)}`);
  return [
    `${number}all of these together:`,
    ...items,
    ...(evicts.length === 0 ? [] : [`${indent}${evictionText(evicts)}`]),
  ];
}

/** `set label tier=gold on cluster a; that would evict b` */
export function describeSuggestion({ changes, evicts }: Suggestion): string {
  const what = changes.map(describeChange).join(', and ');
  return evicts.length === 0 ? what : `${what}; ${evictionText(evicts)}`;
}

function evictionText(evicts: readonly string[]): string {
  const more = evicts.length - MAX_EVICTED;
  return `that would evict ${[...evicts.slice(0, MAX_EVICTED), ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
}

function noSuggestionHint(verdict: ClusterVerdict): string {
  switch (verdict.kind) {
    case 'misconfigured':
      return ' Correct the placement first.';
    case 'no-such-cluster':
      return ' Check the name.';
    case 'cluster-being-deleted':
      return ' It is being deleted.';
    case 'skipped':
      return verdict.why === 'being-deleted' ? ' It is being deleted.' : '';
    default:
      return '';
  }
}

const SKIPPED_TEXTS = {
  'being-deleted': 'the placement is being deleted, so it is not scheduled any more',
  'scheduling-disabled': 'scheduling of the placement is disabled by its annotation',
  'decided-by-others': DECIDED_BY_OTHERS_TEXT,
} as const;

function verdictLines(verdict: ClusterVerdict): readonly string[] {
  switch (verdict.kind) {
    case 'selected':
      return scoreLines(verdict.score);
    case 'skipped':
      return [SKIPPED_TEXTS[verdict.why]];
    case 'no-such-cluster':
      return ['there is no ManagedCluster of this name'];
    case 'cluster-being-deleted':
      return ['the ManagedCluster is being deleted'];
    case 'not-in-eligible-set':
      return eligibilityLines(verdict);
    case 'misconfigured':
      return [
        'the placement is misconfigured, so nothing is selected:',
        ...`${verdict.plugin === '' ? '' : `${verdict.plugin}: `}${verdict.message}`
          .split('\n')
          .map((line) => `  ${line}`),
      ];
    case 'predicate':
      return predicateLines(verdict);
    case 'tainted':
      return verdict.taints.map((taint) => `taint ${taintLine(taint)}`);
    case 'spread':
      return [
        `selecting it would put more than maxSkew ${verdict.constraint.maxSkew ?? 1} between the values of ${verdict.constraint.topologyKeyType.toLowerCase()} ${verdict.constraint.topologyKey}`,
        ...scoreLines(verdict.score),
      ];
    case 'outranked':
      return outrankedLines(verdict);
  }
}

function outrankedLines(verdict: Extract<ClusterVerdict, { kind: 'outranked' }>): readonly string[] {
  const { lastSelected, score, numberOfClusters } = verdict;
  const last =
    lastSelected === undefined
      ? 'numberOfClusters is 0'
      : `the last of the ${numberOfClusters} selected, ${lastSelected.cluster}, has ${points(lastSelected.total)}`;
  return [`outranked: ${points(score.total)}, ${last}`, ...scoreLines(score)];
}

function points(total: number): string {
  return `${total} ${total === 1 ? 'point' : 'points'}`;
}

function eligibilityLines(
  verdict: Extract<ClusterVerdict, { kind: 'not-in-eligible-set' }>,
): readonly string[] {
  const { memberOf, bound, wanted, eligible } = verdict;
  const list = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  return [
    'the cluster is in no cluster set that counts for this placement',
    `sets of the cluster:           ${list(memberOf)}`,
    `sets bound to the namespace:   ${list(bound)}`,
    `spec.clusterSets:              ${wanted.length === 0 ? 'not set (every bound set counts)' : list(wanted)}`,
    `sets that count:               ${list(eligible)}`,
  ];
}

function predicateLines(verdict: Extract<ClusterVerdict, { kind: 'predicate' }>): readonly string[] {
  const several = verdict.predicates.length > 1;
  return verdict.predicates.flatMap(({ predicate, failures }) =>
    failures.map((failure) => `${several ? `predicate ${predicate + 1}: ` : ''}${failureDetail(failure)}`),
  );
}

const VERDICT_WORDS: Readonly<Record<TaintFinding['verdict'], string>> = {
  tolerated: 'is tolerated',
  'prefer-only': 'only makes the cluster less wanted',
  'already-decided': 'keeps only new placements away, and this one is already here',
  refused: 'is not tolerated',
  expired: 'was tolerated, but not any more',
};

function taintLine(finding: TaintFinding): string {
  const age = finding.ageSeconds === undefined ? '' : `, there for ${duration(finding.ageSeconds)}`;
  const by =
    finding.toleration === undefined
      ? ''
      : `, by the toleration of ${describeToleration(finding.toleration)}`;
  const until = finding.until === undefined ? '' : ` until ${finding.until}`;
  return `${describeTaint(finding.taint)}${age}: ${VERDICT_WORDS[finding.verdict]}${by}${until}`;
}

/** The two largest units: `1d2h`, `5m10s`. */
function duration(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'm'],
    [1, 's'],
  ] as const;
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join('') || '0s';
}

function scoreLines(score: ScoreFinding): readonly string[] {
  const rows = score.parts.map(({ prioritizer, weight, score: value, points: product, origin }) => [
    prioritizer,
    String(value),
    `× ${weight}`,
    `= ${product}`,
    ...[origin === undefined ? '' : describeOrigin(origin)].filter((why) => why !== ''),
  ]);
  return [
    `rank ${score.rank} of ${score.of} with ${points(score.total)}`,
    ...alignColumns(rows).map((row) => `  ${row}`),
  ];
}

/** Pads all but the last column; numbers need no other alignment here. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '),
  );
}

/** `wave w1 of ApplicationSet argocd/shop: served` */
export function describeClusterWave({ applicationSet, wave, isServed, why }: ClusterWaveFinding): string {
  const state = isServed ? 'served' : `waits: ${why ?? ''}`;
  return `wave w${wave} of ApplicationSet ${applicationSet}: ${state}`;
}
