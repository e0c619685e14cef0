/**
 * Roughly how many instructions a regular expression compiles to: its characters, with counted
 * repetitions (`{2,500}`) written out, as the compiler does. An estimate without exact parsing:
 * text that is not a quantifier may count as one, which only increases the result.
 */
const COUNTED = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** At least 1; proportional to the cost of compiling and matching the pattern. */
export function patternWeight(pattern: string): number {
  // Weight of each open group so far; the last is the innermost.
  const groups = [0];
  let last = 1;
  const add = (weight: number): void => {
    groups.push((groups.pop() ?? 0) + weight);
    last = weight;
  };
  for (let at = 0; at < pattern.length; at += 1) {
    switch (pattern[at]) {
      case '\\':
        at += 1;
        add(1);
        break;
      case '[':
        at = endOfClass(pattern, at);
        add(1);
        break;
      case '(':
        groups.push(1);
        break;
      case ')':
        if (groups.length > 1) add((groups.pop() ?? 0) + 1);
        break;
      case '{': {
        const { times, length } = repetitions(pattern, at);
        if (times > 1) add(last * (times - 1));
        at += length;
        break;
      }
      default:
        add(1);
    }
  }
  return groups.reduce((sum, weight) => sum + weight, 1);
}

function endOfClass(pattern: string, start: number): number {
  for (let at = start + 2; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === ']') return at;
  }
  return pattern.length;
}

/**
 * The number of repetitions of a counted quantifier, and its length; 1 if the brace is not a
 * quantifier.
 */
function repetitions(pattern: string, at: number): { readonly times: number; readonly length: number } {
  COUNTED.lastIndex = at;
  const match = COUNTED.exec(pattern);
  if (match === null) return { times: 1, length: 0 };
  return { times: Math.max(Number(match[1]), Number(match[2] ?? 0)), length: match[0].length - 1 };
}
