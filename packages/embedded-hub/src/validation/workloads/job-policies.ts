import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];
const OPERATORS = ['In', 'NotIn'];
const STATUSES = ['False', 'True', 'Unknown'];
const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_CONDITIONS = 20;
const MAX_INDEXES_LENGTH = 64 * 1024;

const choices = (words: readonly string[]): string =>
  `valid values: [${words.map((word) => JSON.stringify(word)).join(' ')}]`;

/** Source: pkg/apis/batch/validation (validatePodFailurePolicy). */
export function checkFailurePolicy(spec: JsonObject, at: FieldReporter): void {
  const policy = objectAt(spec, 'podFailurePolicy');
  if (policy === undefined) return;
  const pod = objectAt(objectAt(spec, 'template'), 'spec');
  const names = new Set(
    [...listAt(pod, 'containers'), ...listAt(pod, 'initContainers')].map((one) =>
      isObject(one) ? textAt(one, 'name') : '',
    ),
  );
  const count = listAt(policy, 'rules').length;
  if (count > MAX_RULES) at.at('rules').tooMany(count, MAX_RULES);
  at.each(policy, 'rules', (rule, place) => {
    const action = textAt(rule, 'action');
    if (action === '') place.at('action').required(choices(ACTIONS));
    else if (!ACTIONS.includes(action)) place.at('action').unsupported(action, ACTIONS);
    else if (action === 'FailIndex' && getOwn(spec, 'backoffLimitPerIndex') === undefined)
      place.at('action').invalid(action, 'requires the backoffLimitPerIndex to be set');
    const codes = objectAt(rule, 'onExitCodes');
    if (codes !== undefined) checkExitCodes(codes, names, place.at('onExitCodes'));
    const conditions = listAt(rule, 'onPodConditions').length;
    if (conditions > MAX_CONDITIONS) place.at('onPodConditions').tooMany(conditions, MAX_CONDITIONS);
    place.each(rule, 'onPodConditions', checkCondition);
    if (codes !== undefined && conditions > 0)
      place.invalidWithoutValue('specifying both OnExitCodes and OnPodConditions is not supported');
    if (codes === undefined && conditions === 0)
      place.invalidWithoutValue('specifying one of OnExitCodes and OnPodConditions is required');
  });
}

function checkCondition(pattern: JsonObject, at: FieldReporter): void {
  at.at('type').validName(textAt(pattern, 'type'), qualifiedName);
  // The default status is `True`.
  at.at('status').oneOfIfSet(textAt(pattern, 'status'), STATUSES);
}

function checkExitCodes(codes: JsonObject, names: ReadonlySet<string>, at: FieldReporter): void {
  const operator = textAt(codes, 'operator');
  if (operator === '') at.at('operator').required(choices(OPERATORS));
  else if (!OPERATORS.includes(operator)) at.at('operator').unsupported(operator, OPERATORS);
  const container = getOwn(codes, 'containerName');
  if (typeof container === 'string' && !names.has(container)) {
    const detail = 'must be one of the container or initContainer names in the pod template';
    at.at('containerName').invalid(container, detail);
  }
  const values = listAt(codes, 'values').filter((value) => typeof value === 'number');
  const place = at.at('values');
  if (values.length === 0) place.invalid(getOwn(codes, 'values'), 'at least one value is required');
  else if (values.length > MAX_EXIT_CODES) place.tooMany(values.length, MAX_EXIT_CODES);
  const seen = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0) place.at(index).invalid(0, 'must not be 0 for the In operator');
    if (seen.has(value)) place.at(index).duplicate(value);
    seen.add(value);
  }
  if (values.some((value, index) => index > 0 && (values[index - 1] as number) > value))
    place.invalid([...values], 'must be ordered');
}

/** Source: pkg/apis/batch/validation (validateSuccessPolicy). */
export function checkSuccessPolicy(spec: JsonObject, at: FieldReporter): void {
  const policy = objectAt(spec, 'successPolicy');
  if (policy === undefined) return;
  if (textAt(spec, 'completionMode') !== 'Indexed') {
    at.invalid(policy, 'requires indexed completion mode');
    return;
  }
  const count = listAt(policy, 'rules').length;
  if (count === 0)
    at.at('rules').required('at least one rules must be specified when the successPolicy is specified');
  if (count > MAX_RULES) at.at('rules').tooMany(count, MAX_RULES);
  const completions = numberAt(spec, 'completions') ?? 0;
  at.each(policy, 'rules', (rule, place) => checkSuccessRule(rule, completions, place));
}

function checkSuccessRule(rule: JsonObject, completions: number, at: FieldReporter): void {
  const [indexes, count] = [getOwn(rule, 'succeededIndexes'), numberAt(rule, 'succeededCount')];
  if (typeof indexes !== 'string' && count === undefined)
    at.required('at least one of succeededCount or succeededIndexes must be specified');
  let total: number | undefined;
  if (typeof indexes === 'string') {
    const place = at.at('succeededIndexes');
    if (indexes.length > MAX_INDEXES_LENGTH) place.tooLong(MAX_INDEXES_LENGTH);
    const found = countIndexes(indexes, completions);
    total = typeof found === 'number' ? found : 0;
    if (typeof found === 'string') place.invalid(indexes, `error parsing succeededIndexes: ${found}`);
  }
  if (count === undefined) return;
  const place = at.at('succeededCount');
  place.nonNegative(count);
  const limit = 'must be less than or equal to';
  if (count > completions)
    place.invalid(count, `${limit} ${String(completions)} (the number of specified completions)`);
  if (total !== undefined && count > total) {
    const detail = `${limit} ${String(total)} (the number of indexes in the specified succeededIndexes field)`;
    place.invalid(count, detail);
  }
}

/** How many indexes a text like `0-3,5` names, or why it is invalid. */
function countIndexes(text: string, completions: number): number | string {
  let [total, last] = [0, -1];
  for (const interval of text === '' ? [] : text.split(',')) {
    const ends = interval.split('-');
    if (ends.length > 2) {
      const shown = JSON.stringify(interval);
      return `the fragment ${shown} violates the requirement that an index interval can have at most two parts separated by '-'`;
    }
    for (const end of ends) {
      const shown = JSON.stringify(end);
      if (!/^\+?\d+$/.test(end)) return `cannot convert string to integer for index: ${shown}`;
      if (Number(end) >= completions) return `too large index: ${shown}`;
    }
    const [start, end] = [Number(ends[0]), Number(ends[1] ?? ends[0])];
    const order = (previous: number, current: number): string =>
      `non-increasing order, previous: ${String(previous)}, current: ${String(current)}`;
    if (ends.length > 1 && start >= end) return order(start, end);
    if (last >= start) return order(last, start);
    total += end - start + 1;
    last = end;
  }
  return total;
}
