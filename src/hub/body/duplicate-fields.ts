const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Level {
  /** Undefined for lists. */
  readonly keys: Set<string> | undefined;
  index: number;
  key: string;
  expectsKey: boolean;
}

/**
 * Places whose key stands twice in a JSON text that is known to parse, e.g. `spec.x` or `items[0].name`. Reads character codes: this
 * runs on every write that is to be checked strictly.
 */
export function duplicateFields(text: string): readonly string[] {
  const found = new Set<string>();
  const stack: Level[] = [];
  let level: Level | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (level?.expectsKey === true)
          takeKey(level, keyBetween(text, at, end), () => found.add(placeOf(stack)));
        at = end;
        break;
      }
      case OPEN_OBJECT:
        level = { keys: new Set(), index: 0, key: '', expectsKey: true };
        stack.push(level);
        break;
      case OPEN_LIST:
        level = { keys: undefined, index: 0, key: '', expectsKey: false };
        stack.push(level);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        stack.pop();
        level = stack[stack.length - 1];
        break;
      case COMMA:
        if (level !== undefined) {
          level.index += 1;
          level.expectsKey = level.keys !== undefined;
        }
        break;
      default:
    }
  }
  return [...found];
}

function takeKey(level: Level, key: string, duplicate: () => void): void {
  level.key = key;
  level.expectsKey = false;
  if (level.keys?.has(key) === true) duplicate();
  level.keys?.add(key);
}

/** Index of the closing quote. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function keyBetween(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function placeOf(stack: readonly Level[]): string {
  let place = '';
  for (const level of stack) {
    if (level.keys === undefined) place += `[${String(level.index)}]`;
    else place += place === '' ? level.key : `.${level.key}`;
  }
  return place;
}
