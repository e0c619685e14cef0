import { BUILTINS } from './exec/builtins.ts';
import { execute } from './exec/execute.ts';
import type { MissingKey, Program } from './exec/run.ts';
import { ARGO_CD_FUNCTIONS } from './functions/argo-cd-functions.ts';
import { Lexer } from './parse/lexer.ts';
import type { Template } from './parse/node.ts';
import { isEmpty, parseTemplates } from './parse/parser.ts';
import { quote } from './text/quote.ts';
import { GoError, Refusal } from './value/go-error.ts';
import { func, type GoFunc } from './value/go-func.ts';
import { INTERFACE, STRING } from './value/go-type.ts';
import { spend } from './value/work.ts';

/** The name that Argo CD gives its templates. Errors show it. */
const NAME = 'base';
const TPL = 'tpl';
/** How deep `tpl` may call itself. */
const MAX_TPL_DEPTH = 3;

/**
 * The templates of a text.
 * @param text a byte string
 * @throws GoError with the text of Go
 */
export function templatesOf(text: string): ReadonlyMap<string, Template> {
  const isFunction = (name: string): boolean =>
    name === TPL || ARGO_CD_FUNCTIONS.has(name) || BUILTINS.has(name);
  return parseTemplates({ lexer: new Lexer(text), name: NAME, isFunction });
}

/** A text with the functions of Argo CD, ready to run. */
export function programOf(
  text: string,
  templates: ReadonlyMap<string, Template>,
  missingKey: MissingKey,
): Program {
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
