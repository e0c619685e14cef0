import { readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { CaseResult } from '../../../src/core/placement/case-result.ts';
import type { World } from '../../../src/core/snapshot/world.ts';

export interface RecordedCase {
  readonly case: World & { readonly name: string };
  readonly expected: readonly CaseResult[];
}

/** The recorded cases of one file (`bad`, `cel`, `mixed`, `tolerations`, `worlds`). */
export function readCases(group: string): RecordedCase[] {
  const text = gunzipSync(readFileSync(new URL(`${group}.jsonl.gz`, import.meta.url))).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedCase);
}

export function caseGroups(): string[] {
  return readdirSync(new URL('.', import.meta.url))
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
    message: evenMessage(result.message, other.message),
    requeueAt: evenTime(result.requeueAt, other.requeueAt),
    conditions: list(result.conditions).map(({ type, status, reason, message }) => ({
      type,
      status,
      reason,
      message: evenMessage(message, other.message),
    })),
  };
}

const list = <T>(items: readonly T[] | null): readonly T[] => items ?? [];

/** The recorded scheduler asks the prioritizers in no fixed order; of several warnings any one may be told. */
function warning(result: CaseResult, other: CaseResult): { plugin?: string } {
  return result.code === 'Warning' && other.code === 'Warning' ? { plugin: 'any that warned' } : {};
}

/** CEL compile errors up to "compilation failed"; selector errors by what they are about; expired scores as a fact. */
function evenMessage(message: string, other: string): string {
  const cel = message.indexOf('compilation failed');
  if (cel >= 0) return message.slice(0, cel) + 'compilation failed';
  if (message.startsWith('AddOnPlacementScores ') && message.endsWith(' expired')) return 'expired scores';
  if (/label selector operator|operators?,? .*values|, operator (In|NotIn)/i.test(message))
    return `selector error in ${message.split(':')[0]?.length === 0 || /^(Predicate|TaintToleration):/.test(message) ? 'a condition' : 'a message'}`;
  void other;
  return message;
}

function evenTime(time: string | null, other: string | null): string | null {
  if (time === null || other === null) return time;
  return Math.abs(Date.parse(time) - Date.parse(other)) <= 1000 ? 'the same second' : time;
}
