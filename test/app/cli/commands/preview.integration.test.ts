import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { FORGE_PROVIDERS } from '@berth/forge/request/forge-repository';
import { tempDir } from '../../../../packages/git-reader/test/git-fixture.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeForge } from '../../../../packages/forge/test/fakes/forges/fake-forge.ts';
import { FAKE_FORGES } from '../../../../packages/forge/test/fakes/forges/fake-forges.ts';
import { runCli } from '../../../../src/app/cli/program.ts';
import type { CliIo } from '../../../../src/app/terminal/cli-io.ts';
import { makeCliIo } from '../../cli-harness.ts';

const ADMIN = 'the-token-of-an-administrator';
const BERTH = 'https://berth.example';

/** What `berth serve` says at the addresses that are checked; `undefined`: nobody listens. */
let answers: Record<string, { readonly status: number; readonly text: string }>;
let berth: http.Server;
let publicUrl: string;
beforeEach(async () => {
  answers = { '/healthz': { status: 200, text: 'ok' } };
  berth = http.createServer((request, response) => {
    const { status, text } = answers[request.url ?? ''] ?? { status: 404, text: '' };
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => berth.listen(0, '127.0.0.1', resolve));
  publicUrl = `http://127.0.0.1:${(berth.address() as AddressInfo).port}`;
});
afterEach(() => {
  berth.closeAllConnections();
  berth.close();
});

async function runCommand(args: readonly string[], over: Partial<CliIo>) {
  const { io, stdout, stderr } = makeCliIo(over);
  return { code: await runCli(args, io), stdout: stdout(), stderr: stderr() };
}

interface Step {
  readonly severity: string;
  readonly object: string;
  readonly message: string;
  readonly hint?: string;
}

async function startFake(provider: FakeForge['provider']) {
  const forge = FAKE_FORGES[provider]();
  await forge.start();
  const cwd = tempDir();
  const install = async (...args: readonly string[]) => {
    const flags = ['--url', forge.repositoryUrl, '--api-url', forge.apiUrl, '--repository', forge.repository];
    const all = ['preview', 'install', '--provider', provider, ...flags, '--public-url', BERTH, ...args];
    const ran = await runCommand(all, { cwd, env: { BERTH_ADMIN_TOKEN: ADMIN } });
    return { ...ran, steps: args.includes('json') ? (JSON.parse(ran.stdout) as readonly Step[]) : [] };
  };
  return { forge, cwd, install };
}

const severities = (steps: readonly Step[]): Record<string, string> =>
  Object.fromEntries(steps.map(({ object, severity }) => [object, severity]));

describe.each(FORGE_PROVIDERS)('berth preview install at %s', (provider) => {
  const isByHand = ['github', 'bitbucket', 'azure-devops'].includes(provider);

  it('says what it would do, and writes nothing', async () => {
    const { forge, cwd, install } = await startFake(provider);
    const { code, steps } = await install('--dry-run', '-o', 'json');
    expect(code).toBe(isByHand ? 2 : 0);
    expect(steps.map(({ object }) => object)).toEqual(['token', 'rights', 'secret', 'webhook', 'branch']);
    expect(steps.find(({ object }) => object === 'webhook')?.message).toContain('would be created');
    expect(forge.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect([existsSync(path.join(cwd, 'forge-token')), existsSync(path.join(cwd, 'webhook-secret'))]).toEqual(
      [false, false],
    );
    await forge.close();
  });

  it('sets up what the forge allows, shows no secret, and changes nothing when it runs again', async () => {
    const { forge, cwd, install } = await startFake(provider);
    const first = await install();
    expect(first.code).toBe(isByHand ? 2 : 0);
    const secret = readFileSync(path.join(cwd, 'webhook-secret'), 'utf8').trim();
    expect(statSync(path.join(cwd, 'webhook-secret')).mode & 0o077).toBe(0);
    expect(JSON.stringify(forge.setup.hooks)).toContain(secret);
    const token = path.join(cwd, 'forge-token');
    if (isByHand) {
      expect(first.stdout).toMatch(/warning: token: .*\n {4}hint: .*put it into forge-token/);
      writeFileSync(token, 'by-hand\n');
    }
    expect(readFileSync(token, 'utf8').trim()).toBe(isByHand ? 'by-hand' : 'issued-1');
    const hooks = forge.setup.hooks.length;
    const again = await install('-o', 'json');
    expect(again.code).toBe(0);
    expect(new Set(again.steps.map(({ severity }) => severity))).toEqual(new Set(['ok']));
    expect(again.stdout).toContain('is up to date');
    expect(forge.setup.hooks).toHaveLength(hooks);
    expect(forge.setup.issued).toHaveLength(isByHand ? 0 : 1);
    for (const text of [first.stdout, first.stderr, again.stdout])
      for (const hidden of [ADMIN, secret, 'issued-1', 'by-hand']) expect(text).not.toContain(hidden);
    await forge.close();
  });
});

describe('berth preview install', () => {
  it('goes on where a step fails, says why, and leaves no empty file', async () => {
    const { forge, cwd, install } = await startFake('gitlab');
    forge.lacks.add('setup');
    const { code, steps } = await install('-o', 'json');
    expect(code).toBe(1);
    expect(severities(steps)).toMatchObject({ token: 'error', secret: 'ok', webhook: 'error' });
    expect(steps[0]?.hint).toContain('create a token of the project');
    expect(existsSync(path.join(cwd, 'forge-token'))).toBe(false);
    await forge.close();
  });

  it('issues a token of an account that exists already only with a flag', async () => {
    const { forge, cwd, install } = await startFake('gitea');
    forge.setup.accounts.add('berth');
    for (const dryRun of [['--dry-run'], []]) {
      const { code, steps } = await install('-o', 'json', ...dryRun);
      expect(code).toBe(2);
      expect(severities(steps)).toMatchObject({ token: 'warning', webhook: 'ok' });
      expect(steps[0]?.message).toContain('the account berth exists already');
      expect(steps[0]?.hint).toContain('--existing-account');
    }
    expect(forge.setup.issued).toEqual([]);
    expect([...forge.setup.accounts]).toEqual(['berth']);
    expect(existsSync(path.join(cwd, 'forge-token'))).toBe(false);
    const allowed = await install('--existing-account', '-o', 'json');
    expect(allowed.code).toBe(0);
    expect(allowed.steps[0]?.message).toContain('the account berth, whose other tokens stay');
    expect(forge.setup.issued).toHaveLength(1);
    await forge.close();
  });

  it('refuses a token that does not work instead of replacing it', async () => {
    const { forge, cwd, install } = await startFake('gitea');
    writeFileSync(path.join(cwd, 'forge-token'), 'gone\n');
    forge.expired.add('gone');
    const { code, steps } = await install('-o', 'json');
    expect(code).toBe(1);
    expect(severities(steps)).toMatchObject({ token: 'error', webhook: 'ok' });
    expect(readFileSync(path.join(cwd, 'forge-token'), 'utf8')).toBe('gone\n');
    await forge.close();
  });

  it('needs a token, and an address of a repository', async () => {
    const args = ['preview', 'install', '--provider', 'forgejo', '--public-url', BERTH, '--url'];
    const noToken = await runCommand([...args, 'https://git.example/team/fleet.git'], { env: {} });
    expect(noToken.code).toBe(1);
    expect(noToken.stderr).toContain('BERTH_ADMIN_TOKEN');
    const noUrl = await runCommand([...args, '/srv/fleet'], { env: { BERTH_ADMIN_TOKEN: ADMIN } });
    expect(noUrl.stderr).toContain('--api-url and --repository');
  });
});

describe.each(FORGE_PROVIDERS)('berth preview doctor at %s', (provider) => {
  const hooksPath = `/webhooks/${provider === 'bitbucket-data-center' ? 'bitbucket' : provider}`;

  async function installed() {
    const { forge, cwd, install } = await startFake(provider);
    writeFileSync(path.join(cwd, 'forge-token'), 'berths\n');
    await install('--public-url', publicUrl);
    writeFileSync(
      path.join(cwd, 'sources.yaml'),
      `sources:
  - name: fleet
    url: ${forge.repositoryUrl}
    ref: {branch: main}
    credentials: {tokenFile: forge-token}
    preview: {provider: ${provider}, apiUrl: "${forge.apiUrl}", repository: ${forge.repository}}
`,
    );
    forge.permissions.set('berth', 'admin');
    // An access token, which the forge does not tell its account.
    if (provider === 'bitbucket') forge.fault = ({ url }) => (url === '/user' ? { status: 403 } : undefined);
    answers[hooksPath] = { status: 401, text: '' };
    const doctor = async () => {
      const args = ['preview', 'doctor', '--config', 'sources.yaml', '--public-url', `${publicUrl}/`];
      const ran = await runCommand([...args, '-o', 'json'], { cwd });
      return { ...ran, checks: JSON.parse(ran.stdout) as readonly Step[] };
    };
    return { forge, doctor };
  }

  it('finds nothing wrong with what install made', async () => {
    const { forge, doctor } = await installed();
    const before = forge.seen.filter(({ method }) => method !== 'GET').length;
    const { code, checks } = await doctor();
    expect(checks.filter(({ severity }) => severity !== 'ok')).toEqual([]);
    expect(checks.map(({ object }) => object)).toEqual(
      expect.arrayContaining(['token', 'pull requests', 'rights', 'webhook', 'server', 'deliveries']),
    );
    expect(code).toBe(0);
    expect(forge.seen.filter(({ method }) => method !== 'GET')).toHaveLength(before);
    await forge.close();
  });

  it.each<[string, (forge: FakeForge) => void, Record<string, string>]>([
    ['a token that is gone', (forge) => forge.expired.add('berths'), { token: 'error' }],
    [
      'an account that may only read',
      (forge) => {
        forge.permissions.set('berth', 'read');
        if (provider === 'bitbucket') forge.lacks.add('permissions');
      },
      { rights: 'error' },
    ],
    ['a webhook that is gone', (forge) => forge.setup.hooks.splice(0), { webhook: 'error' }],
    ['webhooks that the token may not read', (forge) => forge.lacks.add('setup'), { webhook: 'warning' }],
    ['no server', () => berth.close(), { server: 'error' }],
    ['another server', () => void (answers['/healthz'] = { status: 200, text: 'hi' }), { server: 'error' }],
    [
      'a server without webhooks of the forge',
      () => void (answers[hooksPath] = { status: 404, text: '' }),
      { deliveries: 'error' },
    ],
  ])('finds %s', async (_name, change, want) => {
    const { forge, doctor } = await installed();
    change(forge);
    const { code, checks } = await doctor();
    const wrong = checks.filter(({ severity }) => severity !== 'ok');
    expect(severities(wrong)).toEqual(want);
    expect(wrong[0]?.hint).toMatch(/\w+ \w+/);
    expect(code).toBe(Object.values(want).includes('error') ? 1 : 0);
    await forge.close();
  });
});

describe('berth preview doctor', () => {
  it('refuses a source without preview', async () => {
    const cwd = tempDir();
    writeFileSync(
      path.join(cwd, 'sources.yaml'),
      'sources:\n  - {name: fleet, url: "https://git.example/team/fleet.git"}\n',
    );
    const args = ['preview', 'doctor', '--config', 'sources.yaml', '--public-url', BERTH];
    const { code, stderr } = await runCommand(args, { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('Source fleet: has no preview');
  });
});
