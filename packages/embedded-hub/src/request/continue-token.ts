import { badRequest } from '../wire/status-errors.ts';

/**
 * Position of the next page of a list: after this object, in the state of version `rv` (-1: the
 * newest state).
 */
export interface ContinuePoint {
  readonly rv: number;
  readonly namespace: string;
  readonly name: string;
}

export function encodeContinue(point: ContinuePoint): string {
  return Buffer.from(JSON.stringify({ v: 1, ...point })).toString('base64url');
}

/** @throws StatusError 400 when the token is not one of ours */
export function decodeContinue(token: string): ContinuePoint {
  try {
    const { v, rv, namespace, name } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as {
      [key in 'v' | 'rv' | 'namespace' | 'name']?: unknown;
    };
    if (v === 1 && Number.isInteger(rv) && typeof namespace === 'string' && typeof name === 'string')
      return { rv: rv as number, namespace, name };
  } catch {
    // Falls through to the error below.
  }
  throw badRequest('continue key is not valid: it was not issued by this server');
}
