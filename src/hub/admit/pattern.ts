import { RE2JS } from 're2js';

/** A compiled `pattern`: linear time, whatever its author wrote. */
export interface Pattern {
  test(text: string): boolean;
}

const compiled = new Map<string, Pattern | undefined>();
const CACHE_LIMIT = 2000;

/**
 * Compiles a pattern of a schema with RE2's syntax, as the API server does; undefined when it is no such expression.
 * Linear-time matching everywhere: a definition's author cannot stall the server with a catastrophic pattern.
 */
export function compilePattern(pattern: string): Pattern | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  if (compiled.size >= CACHE_LIMIT) compiled.clear();
  let result: Pattern | undefined;
  try {
    const expression = RE2JS.compile(pattern);
    result = { test: (text) => expression.test(text) };
  } catch {
    result = undefined;
  }
  compiled.set(pattern, result);
  return result;
}
