import { RE2JS } from 're2js';
import { regexCost } from '../value/cel-cost.ts';
import { CelFailure, type CelResult } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/**
 * `matches` and the Kubernetes regex library. The language is RE2: linear time for every pattern.
 * JavaScript's own engine accepts look-behinds and back-references that a hub rejects, and needs
 * exponential time for hostile patterns.
 */
const MAX_CACHED = 500;
const compiled = new Map<string, RE2JS | CelFailure>();

function compile(pattern: string): RE2JS | CelFailure {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  // Patterns are nearly always constants. The cache is bounded, so that computed patterns cannot
  // fill the memory.
  if (compiled.size >= MAX_CACHED) compiled.clear();
  const made = compilePattern(pattern);
  compiled.set(pattern, made);
  return made;
}

/** A pattern in RE2's syntax, or what is wrong with it. */
export function compilePattern(pattern: string): RE2JS | CelFailure {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return new CelFailure(error instanceof Error ? error.message : `invalid regular expression ${pattern}`);
  }
}

function matches(text: string, pattern: string): CelResult {
  const regex = compile(pattern);
  return regex instanceof CelFailure ? regex : regex.matcher(text).find();
}

function find(text: string, pattern: string): CelResult {
  const regex = compile(pattern);
  if (regex instanceof CelFailure) return regex;
  const matcher = regex.matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

/** @param limit negative: all */
function findAll(text: string, pattern: string, limit = -1n): CelResult {
  const regex = compile(pattern);
  if (regex instanceof CelFailure) return regex;
  const found: string[] = [];
  const matcher = regex.matcher(text);
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}

export const REGEX: readonly CelOverload[] = [
  overload('matches(string, string): bool', matches, regexCost),
  overload('string.matches(string): bool', matches, regexCost),
  overload('string.find(string): string', find, regexCost),
  overload('string.findAll(string): list<string>', findAll, regexCost),
  overload('string.findAll(string, int): list<string>', findAll, regexCost),
];
