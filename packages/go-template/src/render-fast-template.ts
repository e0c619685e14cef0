import { decode, encode, trimSpace } from './text/bytes.ts';
import { quote } from './text/quote.ts';
import { TemplateError } from './values.ts';

const START = '{{';
const END = '}}';

/**
 * Whether a text is rendered: it needs a start and an end on one line. Argo CD checks this with the
 * regular expression `.*{{.*}}.*`.
 */
function isTemplated(text: string): boolean {
  return text.split('\n').some((line) => {
    const start = line.indexOf(START);
    return start >= 0 && line.includes(END, start + START.length);
  });
}

/**
 * Renders a text as Argo CD does with goTemplate off. `{{name}}` becomes the parameter with that
 * name. A name stays unchanged if its parameter is missing or is not a string. Source: argo-cd
 * applicationset/utils (`Replace`), with valyala/fasttemplate.
 *
 * @throws TemplateError if a `{{` has no `}}` after it
 */
export function renderFastTemplate(text: string, params: Readonly<Record<string, unknown>>): string {
  if (!isTemplated(text)) return text;
  let rendered = '';
  let at = 0;
  for (let start = text.indexOf(START); start >= 0; start = text.indexOf(START, at)) {
    const from = start + START.length;
    const end = text.indexOf(END, from);
    if (end < 0) throw unclosed(text, from);
    rendered += text.slice(at, start) + replacement(text.slice(from, end), params);
    at = end + END.length;
  }
  return rendered + text.slice(at);
}

function replacement(tag: string, params: Readonly<Record<string, unknown>>): string {
  const name = trimSpace(tag);
  const value = name !== '' && Object.hasOwn(params, name) ? params[name] : undefined;
  return typeof value === 'string' ? value : `${START}${tag}${END}`;
}

function unclosed(text: string, from: number): TemplateError {
  const [whole, rest] = [text, text.slice(from)].map((part) => decode(quote(encode(part))));
  return new TemplateError(
    `invalid template: Cannot find end tag="}}" in the template=${whole} starting from ${rest}`,
  );
}
