import { indexValue, isTrue, lengthOf, unwrap } from './exec/collections.ts';
import { execute } from './exec/execute.ts';
import type { MissingKey, Program } from './exec/run.ts';
import { Printer } from './fmt/printer.ts';
import { sprint, sprintf, sprintln } from './fmt/sprintf.ts';
import { ARGO_CD_FUNCTIONS } from './functions/argo-cd-functions.ts';
import { Lexer } from './parse/lexer.ts';
import type { Template } from './parse/node.ts';
import { isEmpty, parseTemplates } from './parse/parser.ts';
import { decode, encode, decodeRune } from './text/bytes.ts';
import { quote, hex } from './text/quote.ts';
import { isPrint } from './text/unicode.ts';
import { type Changes, toGoValue } from './to-go-value.ts';
import { GoError, Refusal } from './value/go-error.ts';
import { func, type GoFunc, type FuncMap, variadic } from './value/go-func.ts';
import {
  INTERFACE,
  STRING,
  BOOL,
  INT,
  REFLECT,
  type Any,
  INT32,
  isString,
  valueOf,
  type Complex,
  type Value,
  isInteger,
  isUnsigned,
} from './value/go-type.ts';
import { beginWork, spend, checkText } from './value/work.ts';
import { TemplateError, TemplateRefusal, type TemplateValue } from './values.ts';

const BAD_TYPE = 'invalid type for comparison';

/**
 * Renders a text as Argo CD does with `goTemplate: true`: text/template of Go with the functions of
 * sprig and of Argo CD.
 *
 * `data` itself never changes, even if a function such as `set` changes a map.
 *
 * @param data the value of `.`
 * @param options `goTemplateOptions`, such as `missingkey=error`
 * @param changes what happens to such changes
 * @throws TemplateError with the text of Argo CD: `failed to parse template …: template: base:1:
 * …`, `failed to execute go template …: …`, or `PANIC: …` for an option that text/template does not
 * know
 * @throws TemplateRefusal for what Berth does not render
 */
export function renderGoTemplate(
  text: string,
  data: TemplateValue,
  options: readonly string[],
  changes: Changes = 'dropped',
): string {
  const missingKey = missingKeyOf(options);
  if (!text.includes('{{')) return text;
  const parsed = parsedTemplate(text);
  if (parsed instanceof TemplateError) throw new TemplateError(parsed.message);
  beginWork();
  try {
    return decode(execute(parsed[missingKey], toGoValue(data, changes) ?? undefined));
  } catch (error) {
    const failed = `failed to execute go template ${text}: `;
    if (error instanceof RangeError) throw new TemplateRefusal(`${failed}too large or too deep for Berth`);
    if (error instanceof Refusal) throw new TemplateRefusal(`${failed}${decode(error.message)}`);
    if (error instanceof GoError) throw new TemplateError(`${failed}${decode(error.message)}`);
    throw error;
  }
}

/** @throws TemplateError for an option that text/template does not know; Argo CD panics on it */
function missingKeyOf(options: readonly string[]): MissingKey {
  let missingKey: MissingKey = 'default';
  for (const option of options) {
    if (option === '') throw new TemplateError('PANIC: empty option string');
    if (option === 'missingkey=error') missingKey = 'error';
    else if (option === 'missingkey=zero') missingKey = 'zero';
    else if (option === 'missingkey=default' || option === 'missingkey=invalid') missingKey = 'default';
    else throw new TemplateError(`PANIC: unrecognized option: ${option}`);
  }
  return missingKey;
}

/** One program for each way to treat a missing key. */
type ParsedTemplate = Readonly<Record<MissingKey, Program>>;

/**
 * How many parsed templates are kept. An ApplicationSet renders the same few texts for each of its
 * Applications.
 */
const MAX_PARSED = 1000;
/** Longer texts are parsed each time, so that the kept templates have a bounded size. */
const MAX_KEPT = 20_000;
const parsedTemplates = new Map<string, ParsedTemplate | TemplateError>();

function parsedTemplate(text: string): ParsedTemplate | TemplateError {
  const cached = parsedTemplates.get(text);
  if (cached !== undefined) return cached;
  const parsed = parse(text);
  if (parsedTemplates.size >= MAX_PARSED) parsedTemplates.clear();
  if (text.length <= MAX_KEPT) parsedTemplates.set(text, parsed);
  return parsed;
}

function parse(text: string): ParsedTemplate | TemplateError {
  const bytes = encode(text);
  try {
    const templates = templatesOf(bytes);
    const program = (missingKey: MissingKey): Program => programOf(bytes, templates, missingKey);
    return { default: program('default'), zero: program('zero'), error: program('error') };
  } catch (error) {
    if (error instanceof GoError)
      return new TemplateError(`failed to parse template ${text}: ${decode(error.message)}`);
    throw error;
  }
}

/** The name that Argo CD gives its templates. Errors show it. */
const NAME = 'base';
const TPL = 'tpl';

/**
 * The templates of a text.
 * @param text a byte string
 * @throws GoError with the text of Go
 */
function templatesOf(text: string): ReadonlyMap<string, Template> {
  const isFunction = (name: string): boolean =>
    name === TPL || ARGO_CD_FUNCTIONS.has(name) || BUILTINS.has(name);
  return parseTemplates({ lexer: new Lexer(text), name: NAME, isFunction });
}

/** A text with the functions of Argo CD, ready to run. */
function programOf(text: string, templates: ReadonlyMap<string, Template>, missingKey: MissingKey): Program {
  const program: Program = {
    name: NAME,
    text,
    templates,
    functions: ARGO_CD_FUNCTIONS,
    own: new Map([[TPL, tplFunction(() => program)]]),
    builtins: BUILTINS,
    missingKey,
  };
  return program;
}

/** How deep `tpl` may call itself. */
const MAX_TPL_DEPTH = 3;

/**
 * `tpl TEXT DATA` renders a text that is a parameter itself, since Argo CD 3.6. It may call the templates that the text around
 * it defines. Source: argo-cd applicationset/utils/template_functions.go, `tplFun`.
 */
function tplFunction(around: () => Program): GoFunc {
  let depth = 0;
  return func([STRING, INTERFACE], STRING, (text, data) => {
    if (depth >= MAX_TPL_DEPTH)
      throw new GoError(`maximum recursion depth ${MAX_TPL_DEPTH} exceeded in tpl function`);
    depth++;
    try {
      spend(text.length);
      const inner = withPrefix(`cannot parse template ${quote(text)}: `, () => templatesOf(text));
      const program = { ...around(), text, templates: joined(around(), inner) };
      const rendered = withPrefix(`error during tpl function execution for ${quote(text)}: `, () =>
        execute(program, data ?? undefined),
      );
      return rendered.replaceAll('<no value>', '');
    } finally {
      depth--;
    }
  });
}

/** As Go adds a parsed text to a template: what is not blank takes the place of what had its name. */
function joined(around: Program, inner: ReadonlyMap<string, Template>): ReadonlyMap<string, Template> {
  const templates = new Map<string, Template>(
    [...around.templates].map(([name, template]) => [name, { text: around.text, ...template }]),
  );
  for (const [name, template] of inner)
    if (name === NAME || !templates.has(name) || !isEmpty(template.root)) templates.set(name, template);
  return templates;
}

function withPrefix<T>(prefix: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(`${prefix}${error.message}`);
    if (error instanceof GoError) throw new GoError(`${prefix}${error.message}`);
    throw error;
  }
}

/**
 * The built-in functions of text/template. The evaluation handles `and`, `or` and `call` itself;
 * here they only give the number of their arguments. `slice` is missing, because the one of sprig
 * replaces it.
 */
const BUILTINS: FuncMap = new Map([
  ['and', variadic([REFLECT], REFLECT, [REFLECT, (first) => first])],
  ['or', variadic([REFLECT], REFLECT, [REFLECT, (first) => first])],
  ['call', variadic([REFLECT], REFLECT, [REFLECT, (first) => first])],
  ['not', func([REFLECT], BOOL, (value) => !isTrue(value))],
  ['len', func([REFLECT], INT, lengthOf)],
  ['index', variadic([REFLECT], REFLECT, [REFLECT, indexValue])],
  ['eq', variadic([REFLECT], REFLECT, [BOOL, equal])],
  ['ne', func([REFLECT, REFLECT], BOOL, (left, right) => !equal(left, [right]))],
  ['lt', func([REFLECT, REFLECT], BOOL, less)],
  ['le', func([REFLECT, REFLECT], BOOL, lessOrEqual)],
  ['gt', func([REFLECT, REFLECT], BOOL, (left, right) => !lessOrEqual(left, right))],
  ['ge', func([REFLECT, REFLECT], BOOL, (left, right) => !less(left, right))],
  ['html', variadic([], INTERFACE, [STRING, (args) => escapeHtml(argsText(args))])],
  ['js', variadic([], INTERFACE, [STRING, (args) => escapeJavaScript(argsText(args))])],
  ['urlquery', variadic([], INTERFACE, [STRING, (args) => escapeQuery(argsText(args))])],
  ['print', variadic([], INTERFACE, [STRING, sprint])],
  ['println', variadic([], INTERFACE, [STRING, sprintln])],
  ['printf', variadic([STRING], INTERFACE, [STRING, sprintf])],
]);

/** eq, ne, lt, le, gt, ge (text/template/funcs.go). */
type Kind = 'bool' | 'complex' | 'int' | 'float' | 'string' | 'uint';

function basicKind(value: Value | undefined): Kind | undefined {
  if (value === undefined) return undefined;
  if (isInteger(value)) return 'int';
  if (isUnsigned(value)) return 'uint';
  switch (value.type.kind) {
    case 'bool':
    case 'string':
      return value.type.kind;
    case 'float64':
      return 'float';
    case 'complex128':
      return 'complex';
    default:
      return undefined;
  }
}

function isIntegerKind(kind: Kind | undefined): boolean {
  return kind === 'int' || kind === 'uint';
}

/** Whether the first value equals one of the others. */
function equal(first: Value | undefined, others: readonly (Value | undefined)[]): boolean {
  if (others.length === 0) throw new GoError('missing argument for comparison');
  const left = unwrap(first);
  return others.some((other) => equalTwo(left, unwrap(other)));
}

function equalTwo(left: Value | undefined, right: Value | undefined): boolean {
  const [leftKind, rightKind] = [basicKind(left), basicKind(right)];
  if (leftKind !== rightKind) {
    if (isIntegerKind(leftKind) && isIntegerKind(rightKind)) return left?.data === right?.data;
    if (left !== undefined && right !== undefined)
      throw new GoError(`incompatible types for comparison: ${left.type.name} and ${right.type.name}`);
    return false;
  }
  if (leftKind === undefined) return equalOthers(left, right);
  if (leftKind !== 'complex') return left?.data === right?.data;
  const [a, b] = [left?.data as Complex, right?.data as Complex];
  return a.re === b.re && a.im === b.im;
}

/**
 * Compares values that are not numbers, strings or booleans. They compare with nil, and some
 * compare with each other.
 */
function equalOthers(left: Value | undefined, right: Value | undefined): boolean {
  if (left !== undefined && right !== undefined && left.type.kind !== right.type.kind)
    throw new GoError(
      `non-comparable types ${printValue(left, 's')}: ${left.type.name}, ${right.type.name}: ${printValue(right, 'v')}`,
    );
  const [noLeft, noRight] = [
    left === undefined || left.data === null,
    right === undefined || right.data === null,
  ];
  if (noLeft || noRight) return noLeft === noRight;
  if (right?.type.kind === 'map' || right?.type.kind === 'slice')
    throw new GoError(`non-comparable type ${printValue(right, 's')}: ${right.type.name}`);
  return left?.data === right?.data;
}

function printValue(value: Value, verb: string): string {
  const printer = new Printer();
  printer.printArg(value, verb);
  return printer.text;
}

function less(first: Value | undefined, second: Value | undefined): boolean {
  const [left, right] = [unwrap(first), unwrap(second)];
  const [leftKind, rightKind] = [basicKind(left), basicKind(right)];
  if (left === undefined || right === undefined || leftKind === undefined || rightKind === undefined)
    throw new GoError(BAD_TYPE);
  if (leftKind !== rightKind && !(isIntegerKind(leftKind) && isIntegerKind(rightKind)))
    throw new GoError(`incompatible types for comparison: ${left.type.name} and ${right.type.name}`);
  if (leftKind === 'bool' || leftKind === 'complex') throw new GoError(BAD_TYPE);
  return (left.data as string | number | bigint) < (right.data as string | number | bigint);
}

function lessOrEqual(left: Value | undefined, right: Value | undefined): boolean {
  return less(left, right) || equal(left, [right]);
}

/** The text of the arguments, as an action would print each of them. */
function argsText(args: readonly Any[]): string {
  const [first] = args;
  if (args.length === 1 && isString(first)) return first.data;
  return sprint(args.map((arg) => arg ?? valueOf(STRING, '<no value>')));
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\xef\xbf\xbd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

function escapeHtml(bytes: string): string {
  return checked(bytes.replaceAll(/[\0"'&<>]/g, (char) => HTML[char] ?? char));
}

const JAVASCRIPT: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

function escapeJavaScript(bytes: string): string {
  let escaped = '';
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    const char = bytes.slice(at, at + width);
    if (rune >= 0x80) escaped += isPrint(rune) ? char : sprintf('\\u%04X', [valueOf(INT32, BigInt(rune))]);
    else if (rune < 0x20) escaped += `\\u00${hex(rune, 2).toUpperCase()}`;
    else escaped += JAVASCRIPT[char] ?? char;
    at += width;
  }
  return checked(escaped);
}

/** url.QueryEscape */
function escapeQuery(bytes: string): string {
  return checked(
    bytes.replaceAll(/[^A-Za-z0-9\-_.~]/g, (byte) =>
      byte === ' ' ? '+' : `%${hex(byte.charCodeAt(0), 2).toUpperCase()}`,
    ),
  );
}

function checked(text: string): string {
  checkText(text.length);
  return text;
}
