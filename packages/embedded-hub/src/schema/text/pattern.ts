import { RE2JS } from 're2js';
import { chargeText, chargeWork } from '../../json/work-budget.ts';
import { patternWeight } from './pattern-weight.ts';

/** A compiled `pattern`, which matches in linear time. */
export interface Pattern {
  test(text: string): boolean;
}

const compiled = new Map<string, Pattern | undefined>();
const CACHE_LIMIT = 2000;
const COMPILE_STEPS = 15;
const CHARACTERS_PER_STEP = 16;
/** Characters times weight that the matcher processes in the time of one step. */
const MATCHES_PER_STEP = 2_000;

/**
 * Compiles a pattern of a schema with RE2's syntax, as the API server does; undefined if it is
 * invalid. Matching takes linear time, so that no pattern can stall the server.
 * @throws WorkExceededError when compiling, or later matching, exceeds the limit of one request
 */
export function compilePattern(pattern: string): Pattern | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  if (compiled.size >= CACHE_LIMIT) compiled.clear();
  const weight = patternWeight(pattern);
  chargeWork(weight * COMPILE_STEPS);
  let result: Pattern | undefined;
  try {
    const expression = RE2JS.compile(pattern);
    result = {
      test(text) {
        chargeText(text.length, CHARACTERS_PER_STEP);
        chargeText(text.length * weight, MATCHES_PER_STEP);
        return expression.test(text);
      },
    };
  } catch {
    result = undefined;
  }
  compiled.set(pattern, result);
  return result;
}
