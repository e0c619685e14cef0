import { BUILTINS } from './exec/builtins.ts';
import { execute } from './exec/execute.ts';
import type { MissingKey, Program } from './exec/run.ts';
import { ARGO_CD_FUNCTIONS } from './functions/argo-cd-functions.ts';
import { Lexer } from './parse/lexer.ts';
import { parseTemplates } from './parse/parser.ts';
import { TemplateError } from './template-error.ts';
import { decode, encode } from './text/bytes.ts';
import { type KeptMaps, toGoValue } from './to-go-value.ts';
import { GoError } from './value/go-error.ts';
import { beginWork } from './value/work.ts';
import type { TemplateValue } from './values.ts';

/** Argo CD names its templates so, and errors show it. */
const NAME = 'base';

/**
 * Renders a text as Argo CD does with `goTemplate: true`: Go's text/template with the functions of sprig and of Argo CD.
 *
 * `data` itself stays as it is when a function such as `set` changes a map.
 *
 * @param data what `.` is
 * @param options `goTemplateOptions`, such as `missingkey=error`
 * @param kept holds such changes for the next text; without it they end with this one
 * @throws TemplateError with Argo CD's text: `failed to parse template …: template: base:1: …`, `failed to execute go template …: …`, or
 *   `PANIC: …` for an option that text/template does not know; and for what Berth refuses to render
 */
export function renderGoTemplate(
  text: string,
  data: TemplateValue,
  options: readonly string[],
  kept?: KeptMaps,
): string {
  const missingKey = missingKeyOf(options);
  if (!text.includes('{{')) return text;
  const parsed = parsedTemplate(text);
  if (parsed instanceof TemplateError) throw new TemplateError(parsed.message);
  beginWork();
  try {
    return decode(execute(parsed[missingKey], toGoValue(data, kept) ?? undefined));
  } catch (error) {
    if (error instanceof GoError)
      throw new TemplateError(`failed to execute go template ${text}: ${decode(error.message)}`);
    if (error instanceof RangeError)
      throw new TemplateError(`failed to execute go template ${text}: too large or too deep for Berth`);
    throw error;
  }
}

/** @throws TemplateError where text/template does not know an option: there Argo CD panics */
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

/** An ApplicationSet renders the same few texts for each of its Applications. */
const MAX_PARSED = 1000;
/** Longer texts than this are parsed each time, so that the templates that are kept have a bounded size. */
const MAX_KEPT = 20_000;
const parsedTemplates = new Map<string, ParsedTemplate | TemplateError>();

function parsedTemplate(text: string): ParsedTemplate | TemplateError {
  const known = parsedTemplates.get(text);
  if (known !== undefined) return known;
  const made = parse(text);
  if (parsedTemplates.size >= MAX_PARSED) parsedTemplates.clear();
  if (text.length <= MAX_KEPT) parsedTemplates.set(text, made);
  return made;
}

function parse(text: string): ParsedTemplate | TemplateError {
  const bytes = encode(text);
  try {
    const isFunction = (name: string): boolean => ARGO_CD_FUNCTIONS.has(name) || BUILTINS.has(name);
    const templates = parseTemplates({ lexer: new Lexer(bytes), name: NAME, isFunction });
    const program = (missingKey: MissingKey): Program => ({
      name: NAME,
      text: bytes,
      templates,
      functions: ARGO_CD_FUNCTIONS,
      builtins: BUILTINS,
      missingKey,
    });
    return { default: program('default'), zero: program('zero'), error: program('error') };
  } catch (error) {
    if (error instanceof GoError)
      return new TemplateError(`failed to parse template ${text}: ${decode(error.message)}`);
    throw error;
  }
}
