import { KubeConfig } from '@berth/kube/config/kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import { beforeEach, describe, expect, it } from 'vitest';
import { AddonWorld, CLUSTER, HOUR_MS, hubClient } from './addon-harness.ts';

const SECRET_NAME = 'helloworld-hub-kubeconfig';
const TOKEN = { addons: { driver: 'token', tokenSeconds: 3_600 } } as const;

let world: AddonWorld;
beforeEach(() => {
  world = new AddonWorld();
});

/** As the add-on's manager writes it when the account is there. */
const ready = (uid: string) =>
  world.setCondition('helloworld', {
    type: 'TokenInfrastructureReady',
    status: 'True',
    reason: 'TokenInfrastructureReady',
    message: `ServiceAccount ${CLUSTER}/helloworld-agent (UID: ${uid}) is ready`,
  });

async function registered(): Promise<void> {
  await world.start(TOKEN);
  world.hub.accounts.set('helloworld-agent', 'uid-1');
  await world.addAddon('helloworld', { registrations: [hubClient()] });
  await ready('uid-1');
}

const token = async (): Promise<string> => (await world.files(SECRET_NAME))?.['token'] ?? '';

describe('the token of an add-on (driver token)', () => {
  it('waits for the account, whose user the agent declares', async () => {
    await world.start(TOKEN);
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    expect((await world.addon('helloworld'))?.status).toMatchObject({
      kubeClientDriver: 'token',
      registrations: [
        {
          signerName: 'kubernetes.io/kube-apiserver-client',
          subject: { user: `system:serviceaccount:${CLUSTER}:helloworld-agent` },
        },
      ],
    });
    expect(JSON.stringify((await world.addon('helloworld'))?.status?.registrations)).not.toContain('groups');
    expect([world.hub.tokens, await world.requests()]).toEqual([0, []]);
    expect(await world.condition('helloworld', 'TokenRefreshed')).toBeUndefined();
  });

  it('comes into a Secret with a kubeconfig that reads it', async () => {
    await registered();
    const files = await world.files(SECRET_NAME);
    expect(Object.keys(files ?? {}).sort()).toEqual(['cluster-name', 'kubeconfig', 'token']);
    const config = new KubeConfig(parseKubeconfig(files?.['kubeconfig'] ?? '', '/secret'), {});
    expect(config.getCurrentUser()).toMatchObject({ tokenFile: '/secret/token' });
    expect(await world.condition('helloworld', 'TokenRefreshed')).toMatch(
      /^True AddonTokenRefreshed: Addon token refreshed, expires at 2026-01-01T01:00:\d\dZ$/,
    );
    expect([world.hub.tokens, await world.requests()]).toEqual([1, []]);
  });

  it('is replaced when a fifth of its life is left', async () => {
    await registered();
    const before = await token();
    await world.settle(0.75 * HOUR_MS);
    expect(await token()).toBe(before);
    await world.settle(0.1 * HOUR_MS);
    expect(await token()).not.toBe(before);
    expect(world.hub.tokens).toBe(2);
  });

  it('is replaced when the account was made again', async () => {
    await registered();
    const before = await token();
    world.hub.accounts.set('helloworld-agent', 'uid-2');
    await ready('uid-2');
    expect(await token()).not.toBe(before);
  });

  it('that cannot be had is asked for again, and the add-on says why', async () => {
    await world.start(TOKEN);
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    await ready('uid-1');
    expect(await world.condition('helloworld', 'TokenRefreshed')).toMatch(
      /^False TokenCreationFailed: Failed to create token: failed to create token for ServiceAccount edge-1\/helloworld-agent: .*not found/,
    );
    world.hub.accounts.set('helloworld-agent', 'uid-1');
    await world.settle(30_000);
    expect(await world.condition('helloworld', 'TokenRefreshed')).toMatch(/^True/);
  });

  it('leaves certificates of other signers as they are', async () => {
    await world.start(TOKEN);
    await world.addAddon('helloworld', {
      registrations: [hubClient(), { signerName: 'example.com/agents', subject: { user: 'u' } }],
    });
    await world.sign();
    expect(await world.requests()).toHaveLength(1);
    expect(await world.files('helloworld-example.com-agents-client-cert')).toHaveProperty(['tls.crt']);
  });

  it.each([
    { from: 'csr', to: 'token', gone: 'tls.crt', there: 'token' },
    { from: 'token', to: 'csr', gone: 'token', there: 'tls.crt' },
  ] as const)('takes the place of the other: $from to $to', async ({ from, to, gone, there }) => {
    world.hub.accounts.set('helloworld-agent', 'uid-1');
    await world.start({ addons: { driver: from, tokenSeconds: 3_600 } });
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    await ready('uid-1');
    await world.sign();
    expect(await world.files(SECRET_NAME)).toHaveProperty([gone]);
    await world.stop();
    await world.start({ addons: { driver: to, tokenSeconds: 3_600 } });
    // The manager gives the subject of certificates again.
    await world.setStatus('helloworld', { registrations: [hubClient()] });
    await world.sign();
    const files = await world.files(SECRET_NAME);
    expect(files).toHaveProperty([there]);
    expect(files).not.toHaveProperty([gone]);
    expect((await world.addon('helloworld'))?.status?.kubeClientDriver).toBe(to);
  });
});
