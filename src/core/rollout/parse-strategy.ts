import { parseGoDuration } from '@berth/kube/model/go-duration';
import type { IntOrString } from '@berth/kube/model/object-meta';
import type { MandatoryGroups, RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';

/** A rollout strategy with its durations and sizes parsed. Durations in milliseconds; Infinity: no deadline. */
export type ParsedStrategy =
  | { readonly type: 'All'; readonly deadlineMs: number }
  | {
      readonly type: 'Progressive' | 'ProgressivePerGroup';
      readonly deadlineMs: number;
      readonly soakMs: number;
      readonly maxFailures: RolloutSize;
      /** Unset (0) for ProgressivePerGroup. As upstream, an invalid text is an error only if the value is needed. */
      readonly maxConcurrency: Parsed<RolloutSize>;
      readonly mandatory: NonNullable<MandatoryGroups['mandatoryDecisionGroups']>;
    };

export interface RolloutSize {
  readonly value: number;
  readonly percent: boolean;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

const UNSET: RolloutSize = { value: 0, percent: false };

export function parseRolloutStrategy(strategy: RolloutStrategy): Parsed<ParsedStrategy> {
  switch (strategy.type) {
    case 'All': {
      const deadline = parseDeadline(strategy.all?.progressDeadline);
      return deadline.ok ? ok({ type: 'All', deadlineMs: deadline.value }) : deadline;
    }
    case 'Progressive':
      return parseStaged('Progressive', strategy.progressive ?? {});
    case 'ProgressivePerGroup':
      return parseStaged('ProgressivePerGroup', strategy.progressivePerGroup ?? {});
    default:
      return fail(`incorrect rollout strategy type ${strategy.type ?? ''}`);
  }
}

function parseStaged(
  type: 'Progressive' | 'ProgressivePerGroup',
  config: NonNullable<RolloutStrategy['progressive']>,
): Parsed<ParsedStrategy> {
  const deadline = parseDeadline(config.progressDeadline);
  if (!deadline.ok) return deadline;
  const soakMs = parseGoDuration(config.minSuccessTime ?? '0');
  if (soakMs === undefined)
    return fail(`failed to parse the provided minSuccessTime: ${config.minSuccessTime}`);
  const maxFailures = parseSize(config.maxFailures, 'maxFailures');
  if (!maxFailures.ok) return maxFailures;
  const perCluster = type === 'Progressive' ? config.maxConcurrency : undefined;
  return ok({
    type,
    deadlineMs: deadline.value,
    soakMs,
    maxFailures: maxFailures.value,
    maxConcurrency: parseSize(perCluster, 'maxConcurrency'),
    mandatory: config.mandatoryDecisionGroups ?? [],
  });
}

/** The API's own pattern for deadlines; it is loose at both ends, so the duration is read as well. */
const DEADLINE = /^[0-9]+[h|m|s]|None$/;

function parseDeadline(text: string | undefined): Parsed<number> {
  if (text === undefined || text === '' || text === 'None') return ok(Number.POSITIVE_INFINITY);
  if (!DEADLINE.test(text)) return fail('invalid timeout format');
  const duration = parseGoDuration(text);
  return duration === undefined ? fail(`invalid duration "${text}" of progressDeadline`) : ok(duration);
}

const PERCENT = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)%$/;

function parseSize(size: IntOrString | undefined, field: string): Parsed<RolloutSize> {
  if (size === undefined) return ok(UNSET);
  if (typeof size === 'number') return ok({ value: Math.trunc(size), percent: false });
  const percent = PERCENT.exec(size)?.[1];
  if (percent !== undefined) return ok({ value: Number(percent), percent: true });
  return fail(
    `failed to parse the provided ${field}: got "${size}", expected an integer or a percentage like "25%"`,
  );
}

/** The number of clusters of a size, out of `total`; a number outside 1..total counts as not set. */
export function resolveSize(size: RolloutSize, total: number, unset: number): number {
  const value = size.percent ? Math.ceil((size.value / 100) * total) : size.value;
  return value <= 0 || value > total ? unset : value;
}

function ok<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

function fail(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}
