import { TemplateError } from './template-error.ts';
import type { TemplateValue } from './values.ts';

/**
 * Renders a text as Argo CD does with `goTemplate: true`: Go's text/template with the functions of sprig and of Argo CD.
 *
 * @param data what `.` is
 * @param options `goTemplateOptions`, such as `missingkey=error`
 * @throws TemplateError with Argo CD's text: `failed to parse template …: template: base:1: …`, `failed to execute go template …: …`, or
 *   `PANIC: …` for an option that text/template does not know
 */
export function renderGoTemplate(text: string, _data: TemplateValue, options: readonly string[]): string {
  for (const option of options)
    if (!option.startsWith('missingkey=')) throw new TemplateError(`PANIC: unrecognized option: ${option}`);
  if (!text.includes('{{')) return text;
  throw new TemplateError(`failed to parse template ${text}: not implemented yet`);
}
