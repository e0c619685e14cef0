import { createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { SteeredClock } from '../fakes/steered-clock.ts';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const at = (version: string, name = ''): string =>
  `/apis/example.com/${version}/namespaces/default/boats${name}`;
const HOUR_MS = 3_600_000;

type Behaviour = (request: IncomingMessage, response: ServerResponse, review: LooseJson) => void;

function definition(url: string, caPem: string): LooseJson {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const clientConfig = { url, caBundle: Buffer.from(caPem).toString('base64') };
  return {
    metadata: { name: 'boats.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boats', kind: 'Boat' },
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema })),
    },
  };
}

/** Answers well but for what `change` does to each object. */
function converted(review: LooseJson, change: (object: LooseJson) => LooseJson): string {
  const { uid, objects, desiredAPIVersion } = review.request;
  const convertedObjects = objects.map((one: LooseJson) => change({ ...one, apiVersion: desiredAPIVersion }));
  return JSON.stringify({ ...review, response: { uid, result: { status: 'Success' }, convertedObjects } });
}

describe('a webhook that is an enemy', () => {
  let hub: TestHub;
  let clock: SteeredClock;
  let behaviour: Behaviour;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const nowMs = Date.now();
    const authority = new CertificateAuthority(createAuthority('hooks', nowMs));
    const { certPem, keyPem } = await authority.issueServing(['127.0.0.1'], nowMs, HOUR_MS);
    const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        behaviour(request, response, text === '' ? {} : JSON.parse(text));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    close = async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    };
    clock = new SteeredClock();
    hub = await startTestHub({ clock });
    const url = `https://127.0.0.1:${String(port)}/convert`;
    await hub.call('POST', CRDS, { body: definition(url, authority.certPem) });
    const body = { apiVersion: 'example.com/v1', kind: 'Boat', metadata: { name: 'ada' } };
    await hub.call('POST', at('v1'), { body });
  });
  afterEach(async () => {
    await hub.stop();
    await close();
  });

  const read = () => hub.call('GET', at('v2', '/ada'));

  it('gets no credentials of the hub or of the caller', async () => {
    let headers: IncomingMessage['headers'] = {};
    behaviour = (request, response, review) => {
      headers = request.headers;
      response.end(converted(review, (one) => one));
    };
    expect((await read()).status).toBe(200);
    expect(Object.keys(headers).filter((name) => /auth|cookie|token|remote|impersonate/.test(name))).toEqual(
      [],
    );
  });

  it('sends the hub nowhere else', async () => {
    let calls = 0;
    behaviour = (_request, response) => {
      calls += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    };
    expect((await read()).status).toBe(500);
    expect(calls).toBe(1);
  });

  it('cannot keep the hub waiting by sending a byte now and then', async () => {
    let began = false;
    behaviour = (_request, response) => {
      began = true;
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    };
    const waiting = read();
    await expect.poll(() => began).toBe(true);
    expect((await hub.call('GET', at('v1', '/ada'))).status).toBe(200);
    clock.skip(31_000);
    expect((await waiting).status).toBe(500);
  });

  it.each([
    ['a flood', 'x'.repeat(8 * 1024 * 1024)],
    ['brackets', '['.repeat(900_000)],
    ['values', `[${'0,'.repeat(450_000)}0]`],
  ])('cannot stop the hub with %s', async (_name, text) => {
    behaviour = (_request, response) => response.end(text);
    expect((await read()).status).toBe(500);
    expect((await hub.call('GET', at('v1', '/ada'))).status).toBe(200);
  });

  it('cannot make an object another one, or take its protection away', async () => {
    const before = (await hub.call('GET', at('v1', '/ada'))).body.metadata;
    const forged = {
      finalizers: ['x.example.com/y'],
      ownerReferences: [{ uid: 'x' }],
      deletionTimestamp: '2001-01-01T00:00:00Z',
    };
    behaviour = (_request, response, review) =>
      response.end(converted(review, (one) => ({ ...one, metadata: { ...one.metadata, ...forged } })));
    expect((await read()).body.metadata).toEqual(before);
    behaviour = (_request, response, review) =>
      response.end(converted(review, (one) => ({ ...one, metadata: { ...one.metadata, uid: 'x' } })));
    const body = { metadata: { labels: { a: 'b' } } };
    await hub.call('PATCH', at('v1', '/ada'), { type: 'application/merge-patch+json', body });
    expect((await read()).body.message).toContain('must have the same UID');
  });
});
