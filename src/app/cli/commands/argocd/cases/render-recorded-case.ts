import { NotRendered } from '@berth/applicationset/failure/failures';
import { generateApplications } from '@berth/applicationset/generate-applications';
import { parseFirstJson, type JsonNode, toJsonValue } from '@berth/applicationset/json/parse-go-json';
import { renderFastTemplate } from '@berth/go-template/render-fast-template';
import { renderGoTemplate } from '@berth/go-template/render-go-template';
import { TemplateError } from '@berth/go-template/template-error';
import { StringMap, type TemplateValue } from '@berth/go-template/values';
import { type RecordedCase, recordedInputs } from './recorded-inputs.ts';

/** A line that records the rendering of a single template. */
interface TemplateCase {
  readonly id: string;
  readonly engine: 'go' | 'fasttemplate';
  readonly template: string;
  readonly params?: Readonly<Record<string, TemplateValue>>;
  readonly options?: readonly string[];
  /** Names of the parameters that are Go maps of strings, with dots if they are nested. */
  readonly stringMaps?: readonly string[];
}

/**
 * The output for one line: the Applications or the error of an ApplicationSet, or the result of a
 * template.
 */
export type CaseOutput =
  | {
      readonly id: string;
      readonly result:
        | { readonly applications: unknown }
        | { readonly error: string; readonly reason: string };
    }
  | { readonly id: string; readonly output: string }
  | { readonly id: string; readonly error: string };

/** The reason for a case that Berth does not render. */
export const NOT_RENDERED = 'NotRendered';

/**
 * Renders one line of recorded cases, an ApplicationSet or a single template.
 * @throws SyntaxError for a line that is not a case
 */
export function renderRecordedCase(line: string): CaseOutput {
  const recorded = JSON.parse(line) as RecordedCase | TemplateCase;
  const problem = caseProblem(recorded);
  if (problem !== undefined) throw new SyntaxError(problem);
  return 'template' in recorded
    ? renderTemplateCase(recorded)
    : renderApplicationSetCase(withExactIntegers(recorded, line));
}

function caseProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'expected an object';
  const { id, applicationSet, template, engine, params = {} } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string') return 'expected an id that is a string';
  if (template === undefined)
    return typeof applicationSet === 'object' && applicationSet !== null
      ? undefined
      : `case ${id}: expected an applicationSet or a template`;
  if (typeof template !== 'string') return `case ${id}: expected a template that is a string`;
  if (engine !== 'go' && engine !== 'fasttemplate')
    return `case ${id}: expected the engine go or fasttemplate, got ${JSON.stringify(engine)}`;
  return typeof params === 'object' && params !== null ? undefined : `case ${id}: expected params`;
}

function renderApplicationSetCase(recorded: RecordedCase): CaseOutput {
  const { id } = recorded;
  try {
    const generated = generateApplications(recorded.applicationSet, recordedInputs(recorded));
    if ('error' in generated) return { id, result: { error: generated.error, reason: generated.reason } };
    return { id, result: { applications: generated.applications } };
  } catch (error) {
    if (error instanceof NotRendered) return { id, result: { error: error.message, reason: NOT_RENDERED } };
    throw error;
  }
}

function renderTemplateCase({
  id,
  engine,
  template,
  params = {},
  options = [],
  stringMaps = [],
}: TemplateCase): CaseOutput {
  const data = withStringMaps(params, '', stringMaps);
  try {
    const output =
      engine === 'go' ? renderGoTemplate(template, data, options) : renderFastTemplate(template, data);
    return { id, output };
  } catch (error) {
    if (error instanceof TemplateError) return { id, error: error.message };
    throw error;
  }
}

function withStringMaps(
  params: Readonly<Record<string, TemplateValue>>,
  prefix: string,
  stringMaps: readonly string[],
): Record<string, TemplateValue> {
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => {
      const path = `${prefix}${key}`;
      if (stringMaps.includes(path)) return [key, new StringMap(value as Record<string, string>)];
      const isParent = stringMaps.some((name) => name.startsWith(`${path}.`));
      return [
        key,
        isParent ? withStringMaps(value as Record<string, TemplateValue>, `${path}.`, stringMaps) : value,
      ];
    }),
  );
}

const LONG_NUMBER = /[0-9]{16}/;

/** Integers in decisions are Go's int64, for which JSON.parse would lose digits. */
function withExactIntegers(recorded: RecordedCase, line: string): RecordedCase {
  if (recorded.decisions === undefined || !LONG_NUMBER.test(line)) return recorded;
  const parsed = parseFirstJson(line);
  if ('problem' in parsed || parsed.node.kind !== 'object') return recorded;
  const node = parsed.node.entries.find(([key]) => key === 'decisions')?.[1];
  if (node === undefined) return recorded;
  return { ...recorded, decisions: exactValue(node) as NonNullable<RecordedCase['decisions']> };
}

function exactValue(node: JsonNode): unknown {
  if (node.kind === 'array') return node.items.map(exactValue);
  if (node.kind === 'object')
    return Object.fromEntries(node.entries.map(([key, item]) => [key, exactValue(item)]));
  if (node.kind !== 'number' || !/^-?\d{16,}$/.test(node.text)) return toJsonValue(node);
  const value = BigInt(node.text);
  return BigInt.asIntN(64, value) === value ? value : Number(node.text);
}
