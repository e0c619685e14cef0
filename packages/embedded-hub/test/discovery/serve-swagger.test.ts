import { describe, expect, it } from 'vitest';
import type { BodyResponse } from '../../src/wire/api-response.ts';
import { Discovery } from '../../src/discovery/serve-discovery.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';

const ASKED = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const GNOSTIC = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const JSON_TYPE = 'application/json';

describe('/openapi/v2', () => {
  const discovery = new Discovery(createScheme(OCM_HUB_KINDS));
  const get = (accept?: string, ifNoneMatch?: string): BodyResponse =>
    discovery.serve({
      path: '/openapi/v2',
      query: new URLSearchParams(),
      accept,
      ifNoneMatch,
      serverAddress: '',
      aggregated: [],
      pathPrefix: '',
    }) as BodyResponse;

  it.each([
    ['client-go', ASKED, GNOSTIC],
    ['the valid name of the media type', GNOSTIC, GNOSTIC],
    ['a client that takes either', `${ASKED},application/json;q=0.5`, GNOSTIC],
    ['a browser', 'text/html,*/*;q=0.8', JSON_TYPE],
    ['a client that says nothing', undefined, JSON_TYPE],
    ['JSON', JSON_TYPE, JSON_TYPE],
  ])('%s', (_title, accept, contentType) => {
    const answer = get(accept);
    expect(answer).toMatchObject({ code: 200, contentType, headers: { vary: 'Accept' } });
    expect(answer.body.length).toBeGreaterThan(100_000);
  });

  it('answers 304 to who has it, in either form', () => {
    const etag = get(JSON_TYPE).headers?.['etag'] as string;
    expect(get(ASKED).headers?.['etag']).toBe(etag);
    expect(get(ASKED, etag)).toMatchObject({ code: 304, body: '' });
    expect(get(JSON_TYPE, `"OTHER", ${etag}`)).toMatchObject({ code: 304, body: '' });
    expect(get(JSON_TYPE, '"OTHER"')).toMatchObject({ code: 200 });
  });

  it('refuses other forms', () => {
    expect(() => get('text/html')).toThrow(expect.objectContaining({ httpCode: 406 }));
  });
});
