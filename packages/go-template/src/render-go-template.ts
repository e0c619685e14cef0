import { execute } from './exec/execute.ts';
import type { MissingKey, Program } from './exec/run.ts';
import { programOf, templatesOf } from './program.ts';
import { TemplateError } from './template-error.ts';
import { TemplateRefusal } from './template-refusal.ts';
import { decode, encode } from './text/bytes.ts';
import { type Changes, toGoValue } from './to-go-value.ts';
import { GoError, Refusal } from './value/go-error.ts';
import { beginWork } from './value/work.ts';
import type { TemplateValue } from './values.ts';

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
