import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { applySnapshotChanges } from '../../src/explain/snapshot/apply-snapshot-change.ts';
import { decideFirstPlacement, decideInSnapshot } from '../../src/explain/verdict/decide-in-snapshot.ts';
import { describePair } from '../../src/explain/text/describe-pair.ts';
import { describePlacement } from '../../src/explain/text/describe-placement.ts';
import { explainPair } from '../../src/explain/explain-pair.ts';
import { explainPlacement } from '../../src/explain/explain-placement.ts';
import type { PairExplanation } from '../../src/explain/verdict/explanation.ts';
import { recordedClusters } from '../../src/explain/snapshot/recorded-decisions.ts';
import type { CaseResult } from '../../src/case/case-result.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

interface RecordedCase {
  readonly case: Snapshot & { readonly name: string };
  readonly expected: readonly CaseResult[];
}

function read(file: string): readonly RecordedCase[] {
  const bytes = readFileSync(new URL(`./${file}.jsonl.gz`, import.meta.url));
  return gunzipSync(bytes)
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const recorded = JSON.parse(line) as RecordedCase;
      const empty = {
        placements: [],
        clusters: [],
        clusterSets: [],
        bindings: [],
        decisions: [],
        scores: [],
      };
      const present = Object.entries(recorded.case).filter(([, value]) => value !== null);
      return {
        ...recorded,
        case: { ...empty, ...Object.fromEntries(present) } as unknown as RecordedCase['case'],
      };
    });
}

/** What the recorded answer says about one cluster, as a verdict. */
function recordedStage(answer: CaseResult, cluster: string): string {
  if (!answer.scheduled) return 'skipped';
  const passed = (name: string): boolean =>
    (answer.filters ?? []).some(
      (filter) => filter.name === name && filter.filteredClusters?.includes(cluster),
    );
  if (!answer.available?.includes(cluster)) return 'not-available';
  if (answer.code === 'Misconfigured') return 'misconfigured';
  if (!passed('Predicate')) return 'predicate';
  if (!passed('Predicate,TaintToleration')) return 'tainted';
  return answer.selected?.includes(cluster) ? 'selected' : 'outranked';
}

const NOT_AVAILABLE = ['not-in-eligible-set', 'cluster-being-deleted'];

/** Suggestions cost a scheduling each: one in so many pairs is tried, chosen by its place in the file. */
const TRY_EVERY = { snapshots: 97, others: 5 };

describe.each(['mixed', 'cel', 'tolerations', 'bad', 'worlds'])('%s', (file) => {
  it('explains every cluster of every placement as recorded, and every suggestion tried selects it', () => {
    let pairs = 0;
    let suggestions = 0;
    // Collected, not asserted one by one: there are hundreds of thousands.
    const problems: string[] = [];
    for (const { case: snapshot, expected } of read(file)) {
      snapshot.placements.forEach((placement, index) => {
        const ref = { namespace: placement.metadata.namespace ?? '', name: placement.metadata.name };
        const decision = decideInSnapshot(snapshot, ref);
        const answer = expected[index];
        if (decision === undefined || answer === undefined) throw new Error(`${snapshot.name}: no decision`);
        const whole = explainPlacement(decision.snapshot, decision.decided);
        const refused = whole.refusals.reduce((sum, { count }) => sum + count, 0);
        expect(whole.counts.selected + refused, `${snapshot.name} ${ref.name}`).toBe(
          snapshot.clusters.length,
        );
        for (const line of describePlacement(whole))
          expect(line).not.toMatch(/unknown|undefined|NaN|\[object/);
        for (const { metadata } of snapshot.clusters) {
          const name = `${snapshot.name} ${ref.namespace}/${ref.name} ${metadata.name}`;
          const tried = pairs++ % (file === 'worlds' ? TRY_EVERY.snapshots : TRY_EVERY.others) === 0;
          const pair = explainPair({
            ...decision,
            cluster: metadata.name,
            suggest: tried,
          });
          const stage = recordedStage(answer, metadata.name);
          const wanted = stage === 'not-available' ? NOT_AVAILABLE : [stage];
          if (!wanted.includes(pair.verdict.kind))
            problems.push(`${name}: ${pair.verdict.kind}, recorded ${stage}`);
          problems.push(...contentProblems(pair).map((problem) => `${name}: ${problem}`));
          if (tried) suggestions += checkSuggestions(pair, decision, name);
        }
      });
    }
    expect(problems).toEqual([]);
    expect(pairs).toBeGreaterThan(100);
    if (file !== 'bad') expect(suggestions).toBeGreaterThan(50);
  });
});

/** A verdict must carry what it speaks of: the failing parts, the refusing taints, the scores. */
function contentProblems(pair: PairExplanation): readonly string[] {
  const { verdict } = pair;
  const text = describePair(pair).join('\n');
  const problems = /unknown|undefined|NaN|\[object/.test(text) ? [`says ${text}`] : [];
  switch (verdict.kind) {
    case 'predicate':
      if (verdict.predicates.length === 0) problems.push('no predicate');
      if (verdict.predicates.some(({ failures }) => failures.length === 0)) problems.push('no failing part');
      break;
    case 'tainted':
      if (verdict.taints.length === 0) problems.push('no taint');
      break;
    case 'selected':
    case 'outranked': {
      const { rank, parts, total } = verdict.score;
      if (!(rank > 0)) problems.push(`rank ${rank}`);
      if (parts.reduce((sum, { points }) => sum + points, 0) !== total)
        problems.push(`parts are not ${total}`);
      break;
    }
    case 'misconfigured':
      if (verdict.message === '') problems.push('no message');
      break;
    default:
      break;
  }
  return problems;
}

/** Applies each suggestion to the whole snapshot and decides again. */
function checkSuggestions(
  pair: PairExplanation,
  { snapshot, decided }: NonNullable<ReturnType<typeof decideInSnapshot>>,
  name: string,
): number {
  const before =
    pair.verdict.kind === 'skipped' ? recordedClusters(snapshot, pair.placement) : decided.result.selected;
  for (const { changes, evicts } of pair.suggestions) {
    const after = decideFirstPlacement(applySnapshotChanges(snapshot, changes))?.result.selected ?? [];
    expect(after, `${name} ${JSON.stringify(changes)}`).toContain(pair.cluster);
    expect(evicts, `${name} ${JSON.stringify(changes)}`).toEqual(
      before.filter((cluster) => !after.includes(cluster)),
    );
  }
  return pair.suggestions.length;
}
