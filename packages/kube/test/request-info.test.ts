import { describe, expect, it } from 'vitest';
import { isTrueParameter, parseRequestInfo } from '@berth/kube/request-info';

describe('a boolean parameter of the query', () => {
  it.each([
    ['watch=true', 'watch'],
    ['watch=1', 'watch'],
    ['watch', 'watch'],
    ['watch=', 'watch'],
    ['watch=yes', 'watch'],
    ['watch=false', 'list'],
    ['watch=False', 'list'],
    ['watch=FALSE', 'list'],
    ['watch=0', 'list'],
    ['', 'list'],
  ])('%s: the verb is %s', (query, verb) => {
    const request = parseRequestInfo('GET', '/api/v1/namespaces', new URLSearchParams(query));
    expect(request.verb).toBe(verb);
  });

  it('is false if it is absent', () => expect(isTrueParameter(null)).toBe(false));
});
