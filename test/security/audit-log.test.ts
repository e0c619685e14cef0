import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RotatingFile } from '../../packages/embedded-hub/src/auth/files/rotating-file.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';
import { connectRaw, connectSession, openStream, tokenOf } from './raw-client.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

let clock: FakeClock;
let hub: TestHub;
let tenant: string;
beforeAll(async () => {
  clock = new FakeClock(Date.now());
  hub = await startTestHub({ clock, members: ['east'], audit: 'writes' });
  tenant = await tokenOf(hub, 'tenant', ['team']);
});
afterAll(() => hub.stop());

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

function events(file: string): LooseJson[] {
  const path = join(hub.dataDir, file);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line): LooseJson => JSON.parse(line));
}

/** The event that a request left behind, found by its URL. */
async function eventOf(file: string, uri: string): Promise<LooseJson> {
  const find = () => events(file).find((event) => event.requestURI.includes(uri));
  await expect.poll(find).toBeDefined();
  return find();
}

describe('who did it', () => {
  it('is the caller; the user whom the caller impersonated is in a field beside it', async () => {
    const headers = {
      'impersonate-user': 'system:serviceaccount:default:default',
      'impersonate-group': 'system:masters',
      'impersonate-uid': 'u-1',
    };
    const reply = await hub.call('POST', `${CONFIG_MAPS}?as=another`, {
      headers,
      body: configMap('imposed'),
    });
    expect(reply.status).toBe(201);
    const event = await eventOf('audit.log', 'as=another');
    expect(event.user).toEqual({ username: 'admin', groups: ['system:masters', 'system:authenticated'] });
    expect(event.impersonatedUser).toMatchObject({
      username: 'system:serviceaccount:default:default',
      uid: 'u-1',
      groups: expect.arrayContaining(['system:masters']),
    });
  });

  it('is the caller when the impersonation is refused', async () => {
    const headers = { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' };
    const path = `${CONFIG_MAPS}?as=refused`;
    expect((await hub.call('POST', path, { token: tenant, headers, body: configMap('x') })).status).toBe(403);
    const event = await eventOf('audit-refused.log', 'as=refused');
    expect(event.user.username).toBe('tenant');
    expect(event.impersonatedUser).toBeUndefined();
  });

  it('stands alone without impersonation, in the form of audit.k8s.io/v1', async () => {
    await hub.call('POST', `/clusters/east${CONFIG_MAPS}?plain`, { body: configMap('plain') });
    expect(await eventOf('audit.log', '?plain')).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: expect.stringMatching(/^[-0-9a-f]{36}$/),
      stage: 'ResponseComplete',
      requestURI: `/clusters/east${CONFIG_MAPS}?plain`,
      verb: 'create',
      user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'test/1',
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestReceivedTimestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
      stageTimestamp: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
      annotations: { 'berth.dev/cluster': 'east' },
    });
  });

  it('is not what X-Forwarded-For says', async () => {
    const headers = { 'x-forwarded-for': '10.9.9.9', 'x-real-ip': '10.9.9.9' };
    await hub.call('POST', `${CONFIG_MAPS}?forwarded`, { headers, body: configMap('forwarded') });
    expect((await eventOf('audit.log', '?forwarded')).sourceIPs).toEqual(['127.0.0.1']);
  });

  it('is recorded although the client cuts its connection at once', async () => {
    const session = await connectSession(hub);
    const stream = openStream(session, {
      ':path': `${CONFIG_MAPS}?cut`,
      ':method': 'POST',
      authorization: `Bearer ${hub.token}`,
      'content-type': 'application/json',
    });
    stream.stream.end(JSON.stringify(configMap('cut')), () => setImmediate(() => session.destroy()));
    await expect.poll(async () => (await hub.call('GET', `${CONFIG_MAPS}/cut`)).status).toBe(200);
    expect((await eventOf('audit.log', '?cut')).sourceIPs).toEqual(['127.0.0.1']);
  });
});

describe('refusals', () => {
  it.each([
    ['no credentials', { token: null }, 401, {}],
    ['credentials of nobody', { token: 'wrong' }, 401, {}],
    ['no rights', {}, 403, { username: 'tenant', groups: ['team', 'system:authenticated'] }],
  ])('%s are recorded', async (why, options, code, user) => {
    const uri = `${CONFIG_MAPS}?${why.replaceAll(' ', '-')}`;
    await hub.call('GET', uri, { token: tenant, ...options });
    expect(await eventOf('audit-refused.log', uri)).toMatchObject({ user, responseStatus: { code } });
  });

  it('too many requests, and bodies that are too slow, are recorded', async () => {
    const session = await connectSession(hub);
    const headers = {
      ':path': `${REVIEWS}?slow`,
      ':method': 'POST',
      authorization: `Bearer ${tenant}`,
      'content-type': 'application/json',
    };
    const streams = Array.from({ length: 201 }, () => openStream(session, headers));
    for (const { stream } of streams) stream.write('{');
    await expect.poll(() => streams.some((stream) => stream.status() === 429)).toBe(true);
    await clock.advance(11_000);
    const codes = () =>
      events('audit-refused.log')
        .filter((event) => event.requestURI.includes('?slow'))
        .map((event) => event.responseStatus.code);
    await expect.poll(() => new Set(codes())).toEqual(new Set([408, 429]));
    session.destroy();
  });

  it('are kept out of the record of changes, so that a flood of them pushes nothing out', async () => {
    await Promise.all(
      Array.from({ length: 200 }, () => hub.call('GET', `${CONFIG_MAPS}?flood`, { token: tenant })),
    );
    await expect
      .poll(() => events('audit-refused.log').filter((event) => event.requestURI.endsWith('?flood')).length)
      .toBe(200);
    expect(events('audit.log').filter((event) => event.responseStatus.code >= 400)).toEqual([]);
  });

  it('do not grow with what a client makes long', async () => {
    const headers = { 'user-agent': 'x'.repeat(10_000) };
    await hub.call('GET', `${CONFIG_MAPS}/${'n'.repeat(3_000)}?long`, { token: tenant, headers });
    const find = () => events('audit-refused.log').find((event) => event.requestURI.includes('nnnn'));
    await expect.poll(find).toBeDefined();
    expect(JSON.stringify(find()).length).toBeLessThan(4_000);
  });
});

describe('questions', () => {
  it('that every user may ask, and that change nothing, are not recorded', async () => {
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {} };
    const asked = { ...body, spec: { nonResourceAttributes: { verb: 'get', path: '/' } } };
    expect((await hub.call('POST', `${REVIEWS}?question`, { token: tenant, body: asked })).status).toBe(201);
    await hub.call('POST', `${CONFIG_MAPS}?after`, { body: configMap('after') });
    await eventOf('audit.log', '?after');
    expect(events('audit.log').some((event) => event.requestURI.includes('question'))).toBe(false);
  });

  it('for tokens are recorded: they give away credentials', async () => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    await expect
      .poll(async () => (await hub.call('GET', '/api/v1/namespaces/default/serviceaccounts/default')).status)
      .toBe(200);
    await hub.call('POST', '/api/v1/namespaces/default/serviceaccounts/default/token', { body });
    const event = await eventOf('audit.log', 'serviceaccounts/default/token');
    expect(event.objectRef).toMatchObject({ name: 'default', subresource: 'token' });
  });
});

describe('what a client writes', () => {
  it('cannot begin a line of its own, nor act on a terminal', async () => {
    const one = await connectRaw(hub);
    const agent = 'a\x85b\x9bc';
    const path = `${CONFIG_MAPS}/%0a%7b%22kind%22%3a%22Event%22%7d%1b%5b2J%e2%80%ae?forged`;
    const head = `host: localhost\r\nauthorization: Bearer ${tenant}\r\nuser-agent: ${agent}`;
    one.socket.write(Buffer.from(`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`, 'latin1'));
    const event = await eventOf('audit-refused.log', '?forged');
    expect(event.objectRef.name).toBe('\n{"kind":"Event"}\x1b[2J\u202e');
    expect(event.userAgent).toBe(agent);
    const text = readFileSync(join(hub.dataDir, 'audit-refused.log'), 'utf8');
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]/);
    one.socket.destroy();
  });
});

describe('the files', () => {
  it('are readable by their owner alone, those of an earlier start too', async () => {
    for (const file of ['audit.log', 'audit-refused.log'])
      expect(statSync(join(hub.dataDir, file)).mode & 0o777).toBe(0o600);
    chmodSync(join(hub.dataDir, 'audit.log'), 0o644);
    await hub.restart();
    expect(statSync(join(hub.dataDir, 'audit.log')).mode & 0o777).toBe(0o600);
  });

  describe('a file of lines', () => {
    let directory: string;
    beforeEach(() => {
      directory = mkdtempSync(join(tmpdir(), 'berth-audit-'));
      mkdirSync(directory, { recursive: true });
    });
    afterEach(() => rmSync(directory, { recursive: true, force: true }));

    it('is put aside at 64 MiB, so that a flood fills two files and no more', async () => {
      const path = join(directory, 'lines');
      writeFileSync(path, 'x'.repeat(64 * 1024 * 1024 - 10));
      const file = new RotatingFile(path);
      file.append(() => 'the last line\n');
      file.append(() => 'the next line\n');
      await file.close();
      expect(readFileSync(path, 'utf8')).toBe('the next line\n');
      expect(statSync(`${path}.1`).size).toBe(64 * 1024 * 1024 + 4);
    });

    it('counts the lines that a slow disk makes it drop', async () => {
      const file = new RotatingFile(join(directory, 'lines'));
      const counts: number[] = [];
      const line = 'x'.repeat(8 * 1024 * 1024);
      for (let index = 0; index < 5; index += 1)
        file.append((dropped) => {
          counts.push(dropped);
          return line;
        });
      await expect
        .poll(() => {
          file.append((dropped) => {
            counts.push(dropped);
            return 'short';
          });
          return counts.at(-1) === 0 && counts.length > 4;
        })
        .toBe(true);
      await file.close();
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(2);
    });
  });
});
