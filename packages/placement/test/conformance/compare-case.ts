import { readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { CaseResult } from '../../src/case/case-result.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

export interface RecordedCase {
  readonly case: Snapshot & { readonly name: string };
  readonly expected: readonly CaseResult[];
}

/** The recorded cases of one file (`bad`, `cel`, `mixed`, `tolerations`, `snapshots`). */
export function readCases(group: string): RecordedCase[] {
  const text = gunzipSync(readFileSync(new URL(`${group}.jsonl.gz`, import.meta.url))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCase);
}

export function caseGroups(): string[] {
  return readdirSync(new URL('./', import.meta.url))
    .filter((file) => file.endsWith('.jsonl.gz'))
    .map((file) => file.slice(0, -'.jsonl.gz'.length))
    .sort();
}

/** Both sides of a comparison in one form: what may differ by the rules of the recording is evened out. */
export function comparable(result: CaseResult, other: CaseResult): unknown {
  if (!result.scheduled) return { placement: result.placement, scheduled: false };
  return {
    ...result,
    eligibleClusterSets: list(result.eligibleClusterSets),
    available: list(result.available),
    filters: list(result.filters).map((filter) => ({
      ...filter,
      filteredClusters: list(filter.filteredClusters),
    })),
    prioritizers: list(result.prioritizers),
    scores: (result.scores as unknown) ?? {},
    selected: list(result.selected),
    placementDecisions: list(result.placementDecisions).map((page) => ({
      ...page,
      decisions: list(page.decisions),
    })),
    decisionGroups: list(result.decisionGroups),
    ...warning(result, other),
    message: evenMessage(result, result.message, other),
    requeueAt: evenTime(result.requeueAt, other.requeueAt),
    conditions: list(result.conditions).map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message: evenMessage(result, message, other),
    })),
  };
}

const list = <T>(items: readonly T[] | null): readonly T[] => items ?? [];

/** The recorded scheduler asks the prioritizers in no fixed order; of several warnings any one may be told. */
function warning(result: CaseResult, other: CaseResult): { plugin?: string } {
  return result.code === 'Warning' && other.code === 'Warning' ? { plugin: 'any that warned' } : {};
}

/** CEL compile errors up to "compilation failed", expired scores in any order, selector errors by the operator they name. */
function evenMessage({ plugin }: CaseResult, message: string, other: CaseResult): string {
  const cel = message.indexOf('compilation failed');
  if (cel >= 0) return message.slice(0, cel) + 'compilation failed';
  const scores = /^AddOnPlacementScores (.*) expired$/.exec(message);
  if (scores !== null) return plugin === other.plugin ? `expired: ${sortedWords(scores[1])}` : 'expired';
  const operator = /"([^"]*)" is not a (?:valid )?label selector operator/.exec(message);
  if (operator !== null) return `${message.slice(0, operator.index)}selector operator ${operator[1]}`;
  const values =
    /values: Invalid value: .*'in', 'notin'.*|key "[^"]*", operator (?:In|NotIn): values .*/.exec(message);
  return values === null ? message : `${message.slice(0, values.index)}selector without values`;
}

function sortedWords(text = ''): string {
  return text.split(' ').sort().join(' ');
}

function evenTime(time: string | null, other: string | null): string | null {
  if (time === null || other === null) return time;
  return Math.abs(Date.parse(time) - Date.parse(other)) <= 1000 ? 'the same second' : time;
}
