/** Places whose key stands twice in a JSON text that is known to parse, e.g. `spec.x` or `items[0].name`. */
export function duplicateFields(text: string): readonly string[] {
  const found = new Set<string>();
  const stack: Level[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    const level = stack[stack.length - 1];
    if (character === '{') stack.push({ keys: new Set(), index: 0, key: '', expectsKey: true });
    else if (character === '[') stack.push({ keys: undefined, index: 0, key: '', expectsKey: false });
    else if (character === '}' || character === ']') stack.pop();
    else if (character === ',' && level !== undefined) {
      level.index += 1;
      level.expectsKey = level.keys !== undefined;
    } else if (character === '"') {
      const end = endOfString(text, at);
      if (level?.expectsKey === true) {
        level.key = JSON.parse(text.slice(at, end)) as string;
        level.expectsKey = false;
        if (level.keys?.has(level.key) === true) found.add(placeOf(stack));
        level.keys?.add(level.key);
      }
      at = end - 1;
    }
  }
  return [...found];
}

interface Level {
  /** Undefined for lists. */
  readonly keys: Set<string> | undefined;
  index: number;
  key: string;
  expectsKey: boolean;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function placeOf(stack: readonly Level[]): string {
  let place = '';
  for (const level of stack) {
    if (level.keys === undefined) place += `[${String(level.index)}]`;
    else place += place === '' ? level.key : `.${level.key}`;
  }
  return place;
}
