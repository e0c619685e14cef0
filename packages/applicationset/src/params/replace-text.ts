import { renderFastTemplate } from '@berth/go-template/render-fast-template';
import { renderGoTemplate } from '@berth/go-template/render-go-template';
import type { KeptMaps } from '@berth/go-template/to-go-value';
import { TemplateError, TemplateRefusal } from '@berth/go-template/values';
import { GenerateError, GoPanic, NotRendered } from '../failure/failures.ts';
import { asTemplateValue, type Params } from './params.ts';

/** How the texts of an ApplicationSet are rendered: `goTemplate` and `goTemplateOptions`. */
export interface TemplateMode {
  readonly goTemplate: boolean;
  readonly options: readonly string[];
}

const PANIC = 'PANIC: ';

/**
 * Renders one text. An option that text/template does not know panics even for a text without
 * placeholders. `checkOptions` checks the options once, so this function can skip such texts.
 * @param kept stores what functions such as `set` change in the parameters, for later texts;
 * without it, a text that changes parameters is refused
 * @throws GenerateError, GoPanic, NotRendered
 */
export function replaceText(
  text: string,
  params: Params,
  { goTemplate, options }: TemplateMode,
  kept?: KeptMaps,
): string {
  if (!text.includes('{{')) return text;
  try {
    return goTemplate
      ? renderGoTemplate(text, asTemplateValue(params), options, kept ?? 'refused')
      : renderFastTemplate(text, params);
  } catch (error) {
    throw asFailure(error);
  }
}

/** @throws GoPanic for an option that text/template does not know */
export function checkOptions({ goTemplate, options }: TemplateMode): void {
  if (!goTemplate || options.length === 0) return;
  try {
    renderGoTemplate('', {}, options);
  } catch (error) {
    throw asFailure(error);
  }
}

function asFailure(error: unknown): unknown {
  if (!(error instanceof TemplateError)) return error;
  if (error instanceof TemplateRefusal) return new NotRendered(error.message, { cause: error });
  return error.message.startsWith(PANIC)
    ? new GoPanic(error.message.slice(PANIC.length))
    : new GenerateError(error.message, { cause: error });
}
