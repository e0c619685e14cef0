import type { Requirement, RequirementResult, SelectorOperator } from './label-selector-requirement.ts';
import { makeRequirement } from './label-selector-requirement.ts';
import type { SelectorCompilation } from './label-selector-compile.ts';

/**
 * The text form of selectors in API queries (`labelSelector=a=b,c in (x,y),!d,e>5`), the grammar of apimachinery's
 * `labels.Parse`: comma-separated requirements; operators `=`, `==`, `!=`, `in`, `notin`, `>`, `<`, existence `key`
 * and `!key`; blanks between tokens do not matter; an empty text selects everything.
 */
export function parseLabelSelector(text: string): SelectorCompilation {
  const reader = new TokenReader(text);
  const requirements: Requirement[] = [];
  if (reader.peek() === '') return { ok: true, selector: { requirements, nothing: false } };
  for (;;) {
    const result = readRequirement(reader);
    if (!result.ok) return { ok: false, error: `label selector ${JSON.stringify(text)}: ${result.error}` };
    requirements.push(result.requirement);
    const separator = reader.next();
    if (separator === '') return { ok: true, selector: { requirements, nothing: false } };
    if (separator !== ',' || reader.peek() === '')
      return {
        ok: false,
        error: `label selector ${JSON.stringify(text)}: found ${shown(separator === ',' ? '' : separator)}, expected ${separator === ',' ? 'a key' : '"," or the end'}`,
      };
  }
}

const OPERATOR_OF: Readonly<Record<string, SelectorOperator>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  in: 'In',
  notin: 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
};

function readRequirement(reader: TokenReader): RequirementResult {
  const negated = reader.peek() === '!';
  if (negated) reader.next();
  const key = reader.next();
  if (!isWord(key)) return { ok: false, error: `found ${shown(key)}, expected a key` };
  const following = reader.peek();
  if (negated) return makeRequirement(key, 'DoesNotExist', []);
  if (following === '' || following === ',') return makeRequirement(key, 'Exists', []);
  reader.next();
  const operator = Object.hasOwn(OPERATOR_OF, following) ? OPERATOR_OF[following] : undefined;
  if (operator === undefined)
    return {
      ok: false,
      error: `found ${shown(following)} after key "${key}", expected =, ==, !=, in, notin, > or <`,
    };
  if (following !== 'in' && following !== 'notin')
    return makeRequirement(key, operator, [readExactValue(reader)]);
  const values = readValueList(reader);
  return typeof values === 'string'
    ? { ok: false, error: `${values} (key "${key}")` }
    : makeRequirement(key, operator, values);
}

/** `a=` and `a=,b` mean the empty value; any word is a value, even `in`. */
function readExactValue(reader: TokenReader): string {
  const token = reader.peek();
  return token === '' || token === ',' ? '' : reader.next();
}

/** The values of `( x , y )`, or what is wrong. An empty position is the empty value, as upstream reads it. */
function readValueList(reader: TokenReader): string[] | string {
  const open = reader.next();
  if (open !== '(') return `found ${shown(open)}, expected "("`;
  const values: string[] = [];
  for (;;) {
    const token = reader.peek();
    const value = token === ',' || token === ')' ? '' : reader.next();
    if (value !== '' && !isWord(value)) return `found ${shown(value)}, expected a value`;
    values.push(value);
    const separator = reader.next();
    if (separator === ')') return values;
    if (separator !== ',') return `found ${shown(separator)}, expected "," or ")"`;
  }
}

function isWord(token: string): boolean {
  return token !== '' && !/[=!(),><]/.test(token);
}

function shown(token: string): string {
  return token === '' ? 'the end' : JSON.stringify(token);
}

/** Splits the text into words and symbols; '' marks the end. */
class TokenReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.match(/==|!=|[=!(),><]|[^=!(),><\s]+/g) ?? [];
  }

  peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  next(): string {
    const token = this.peek();
    this.#at++;
    return token;
  }
}
