import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORGE_PROVIDERS } from '../src/request/forge-repository.ts';
import type { ForgeSetup } from '../src/setup/forge-setup.ts';
import { openSetup, webhookPath } from '../src/setup/open-setup.ts';
import type { FakeForge } from './fakes/forges/fake-forge.ts';
import { FAKE_FORGES } from './fakes/forges/fake-forges.ts';

const signal = new AbortController().signal;
const SECRET = 'a-secret-of-this-test';
const WANTED = { account: 'berth', name: 'berth-1', expiresOn: '2027-01-31', password: 'p' };
const [OURS, OTHER] = ['https://berth.example/webhooks/x', 'https://ci.example/hook'];

/** What every forge does, on a server that answers as its public documentation says. */
describe.each(FORGE_PROVIDERS)('the setup of a repository at %s', (provider) => {
  let server: FakeForge;
  let setup: ForgeSetup;
  beforeEach(async () => {
    server = FAKE_FORGES[provider]();
    await server.start();
    const { apiUrl, repository } = server;
    setup = openSetup({ provider, apiUrl, repository, token: async () => 'admin' });
  });
  afterEach(() => server.close());

  it('creates a webhook with every event and the secret, beside those of others', async () => {
    await setup.writeWebhook({ url: OTHER, secret: 'theirs' }, signal);
    await setup.writeWebhook({ url: OURS, secret: SECRET }, signal);
    const hooks = await setup.webhooks(signal);
    expect(hooks.map(({ url }) => url)).toEqual([OTHER, OURS]);
    expect(hooks[1]).toMatchObject({ isActive: true });
    expect(hooks[1]?.events).toEqual(expect.arrayContaining([...setup.events]));
    expect(JSON.stringify(server.setup.hooks)).toContain(SECRET);
  });

  it('changes the webhook with the same address instead of adding one', async () => {
    await setup.writeWebhook({ url: OURS, secret: 'old' }, signal);
    const before = server.setup.hooks.length;
    await setup.writeWebhook({ url: OURS, secret: SECRET }, signal);
    expect(server.setup.hooks).toHaveLength(before);
    const text = JSON.stringify(server.setup.hooks);
    expect(text).toContain(SECRET);
    expect(text).not.toContain('"old"');
  });

  it('has no webhooks at first, and shows no secret when it lists them', async () => {
    expect(await setup.webhooks(signal)).toEqual([]);
    await setup.writeWebhook({ url: OURS, secret: SECRET }, signal);
    expect(JSON.stringify(await setup.webhooks(signal))).not.toContain(SECRET);
  });

  it('says how the last delivery ended, if the forge does', async () => {
    await setup.writeWebhook({ url: OURS, secret: SECRET }, signal);
    for (const [status, isGood] of [
      [200, true],
      [401, false],
    ] as const) {
      server.setup.lastDelivery = status;
      const [hook] = await setup.webhooks(signal);
      const silent = ['gitea', 'bitbucket', 'azure-devops'].includes(provider);
      if (silent) expect(hook?.lastDelivery).toBeUndefined();
      else expect(hook?.lastDelivery).toMatchObject({ isGood });
    }
  });

  it('issues a token, or says how a person creates one', async () => {
    expect(setup.tokenByHand).toMatch(/\w+ \w+/);
    if (setup.issueToken === undefined) {
      expect(['github', 'bitbucket', 'azure-devops']).toContain(provider);
      return;
    }
    const { token, text } = await setup.issueToken(WANTED, signal);
    expect(token).toBe('issued-1');
    expect(text).not.toContain(token);
    expect(text).toContain('berth-1');
    expect(server.setup.issued).toMatchObject([{ name: 'berth-1' }]);
  });

  it('fails as scm.auth where the token is not one of an administrator', async () => {
    server.lacks.add('setup');
    await expect(setup.webhooks(signal)).rejects.toMatchObject({ code: 'scm.auth' });
    await expect(setup.writeWebhook({ url: OURS, secret: SECRET }, signal)).rejects.toMatchObject({
      code: 'scm.auth',
    });
    expect(server.setup.hooks).toEqual([]);
  });

  it('reads the scopes of the token where the forge says them', async () => {
    expect(await setup.scopes(signal)).toBeUndefined();
    server.setup.scopes = 'api, repo';
    const said = ['github', 'gitlab', 'bitbucket'].includes(provider) ? ['api', 'repo'] : undefined;
    expect(await setup.scopes(signal)).toEqual(said);
  });
});

describe('what differs', () => {
  it.each([
    ['gitea', 'berth: admin'],
    ['github', 'berth: push'],
  ] as const)('%s makes the account a collaborator', async (provider, want) => {
    const server = FAKE_FORGES[provider]();
    await server.start();
    const { apiUrl, repository } = server;
    await openSetup({ provider, apiUrl, repository, token: async () => 'admin' }).grant?.('berth', signal);
    expect([...server.setup.accounts]).toEqual([want]);
    await server.close();
  });

  it('Gitea creates an account only if there is none', async () => {
    const server = FAKE_FORGES.gitea();
    await server.start();
    const { apiUrl, repository } = server;
    const setup = openSetup({ provider: 'gitea', apiUrl, repository, token: async () => 'admin' });
    expect(await setup.hasAccount?.('berth', signal)).toBe(false);
    const texts = [await setup.issueToken?.(WANTED, signal), await setup.issueToken?.(WANTED, signal)];
    expect(texts.map((one) => one?.text)).toEqual([
      'issued for the new account berth, as berth-1',
      'issued for the account berth, whose other tokens stay, as berth-1',
    ]);
    expect(await setup.hasAccount?.('berth', signal)).toBe(true);
    expect(server.seen.filter(({ url }) => url === '/admin/users')).toHaveLength(1);
    await server.close();
  });

  it.each([
    ['gitea', '/webhooks/gitea'],
    ['bitbucket', '/webhooks/bitbucket'],
    ['bitbucket-data-center', '/webhooks/bitbucket'],
    ['azure-devops', '/webhooks/azure-devops'],
  ] as const)('webhooks of %s call %s', (provider, want) => {
    expect(webhookPath(provider)).toBe(want);
  });
});
