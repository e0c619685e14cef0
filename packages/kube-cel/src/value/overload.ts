import { BugError } from '@berth/runtime/errors';
import { type CelType, celType } from './cel-type.ts';
import type { CelResult, CelValue } from './cel-value.ts';

/** One signature of a function. Arguments are never failures: a failing argument is the result of the call. */
export interface CelOverload {
  readonly name: string;
  /** Called as `receiver.name(args)`; the receiver is the first of `params`. */
  readonly isMember: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly call: CelImplementation;
  /** Cost of the call itself, without its arguments; absent: 1. */
  readonly cost: CelCost | undefined;
}

/** Every implementation is declared with its own parameter types: the signature guarantees them. */
export type CelImplementation = (...args: never[]) => CelResult;
export type CelCost = (args: readonly CelValue[], result: CelResult) => number;

/**
 * Reads `name(int, list<T>): bool` or `string.name(int): bool` (member of string). Operators have names without
 * letters, e.g. `_+_(int, int): int`.
 */
export function overload(signature: string, call: CelImplementation, cost?: CelCost): CelOverload {
  const match = /^(?:([\w<>., ]+)\.(?=[\w]+\())?([^()\s]+)\((.*)\): (.+)$/.exec(signature);
  if (match === null)
    throw new BugError('unreadable signature', { code: 'cel.signature', subject: signature });
  const [, receiver, name = '', params = '', result = ''] = match;
  const isMember = receiver !== undefined && !NAMESPACES.has(receiver);
  return {
    name: receiver === undefined || isMember ? name : `${receiver}.${name}`,
    isMember,
    params: [...(isMember ? [receiver] : []), ...splitTypes(params)].map(parseType),
    result: parseType(result),
    call,
    cost,
  };
}

/** Identifiers before a dot that are part of a function's name, not a receiver. */
const NAMESPACES: ReadonlySet<string> = new Set(['strings', 'optional', 'format', 'ip', 'sets']);

function parseType(text: string): CelType {
  const open = text.indexOf('<');
  if (open < 0) return celType(text.trim());
  const inner = splitTypes(text.slice(open + 1, text.lastIndexOf('>')));
  return celType(text.slice(0, open).trim(), ...inner.map(parseType));
}

function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '<') depth++;
    else if (text[i] === '>') depth--;
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  const last = text.slice(start).trim();
  return last === '' ? parts : [...parts, last];
}
