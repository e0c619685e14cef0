/** A part of a text: from `start` up to, not including, `end`. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The values of a text that holds several JSON values one after the other, such as the output of `jq`. kubectl reads
 * such a file if it starts with an object. Undefined for a single value, and for any other text.
 */
export function findJsonStream(text: string): readonly TextRange[] | undefined {
  const values: TextRange[] = [];
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const end = text.startsWith('null', at) ? at + 'null'.length : endOfValue(text, at);
    if (end === undefined) return undefined;
    values.push({ start: at, end });
    at = skipSpace(text, end);
    // Another text, such as a flow mapping of YAML with a comment, is left whole for the YAML parser.
    if (at < text.length && !/^(?:[{[]|null\b)/.test(text.slice(at, at + 5))) return undefined;
  }
  return values.length > 1 && values.every((value) => isJson(text, value)) ? values : undefined;
}

/** The end of the object or list that starts here; undefined if there is none. */
function endOfValue(text: string, start: number): number | undefined {
  if (!/[{[]/.test(text[start] ?? '')) return undefined;
  const token = /"(?:[^"\\]|\\.)*"|[{[\]}]/gs;
  token.lastIndex = start;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '{' || found[0] === '[') depth += 1;
    else if ((found[0] === '}' || found[0] === ']') && --depth === 0) return token.lastIndex;
  }
  return undefined;
}

function skipSpace(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  space.exec(text);
  return space.lastIndex;
}

function isJson(text: string, { start, end }: TextRange): boolean {
  try {
    JSON.parse(text.slice(start, end));
    return true;
  } catch {
    return false;
  }
}
