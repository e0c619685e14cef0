import { CERTIFICATE_REQUEST } from '@berth/kube/model/kinds';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileAutoAcceptance } from '../../src/core/registration/acceptance/auto-acceptance.ts';
import { freshKey, RegistrationWorld } from '../controllers/registration/registration-world.ts';
import { plainSubject, requestPem } from './certificate-requests.ts';

const LABEL = 'open-cluster-management.io/cluster-name';
const OWN = 'system:open-cluster-management:c1';
const OTHER = 'system:open-cluster-management:c2';
const ALL = 'system:open-cluster-management:managed-clusters';

/** Every cluster and every requester is accepted by rule: what stays unapproved here is never approved. */
let world: RegistrationWorld;
beforeAll(async () => {
  world = await RegistrationWorld.create({ autoAcceptance: compileAutoAcceptance([], ['true']) });
  await world.register('c1');
  await world.register('c2');
});
afterAll(() => world.close());

const privateKey = freshKey();
const pem = (commonName: string, ...organizations: readonly string[]): string =>
  requestPem({ subject: plainSubject(commonName, ...organizations), privateKey });
const labels = { [LABEL]: 'c1' };

async function isApproved(name: string): Promise<boolean> {
  const csr = await world.get(CERTIFICATE_REQUEST, name);
  const { conditions = [] } = (csr?.['status'] ?? {}) as {
    readonly conditions?: { readonly type: string }[];
  };
  return conditions.some(({ type }) => type === 'Approved');
}

/** A good request that came later is approved: the one before it was looked at. */
async function wasLookedAt(): Promise<void> {
  const good = await world.ask(pem(`${OWN}:agent1`, OWN, ALL), { labels });
  await expect.poll(() => isApproved(good)).toBe(true);
}

describe('a request that is not approved', () => {
  it.each([
    [
      'an organisation that has the name of the cluster as prefix',
      () => pem(`${OWN}:agent1`, `${OWN}0`, ALL),
      { labels },
    ],
    ['an organisation of another cluster', () => pem(`${OWN}:agent1`, OTHER, ALL), { labels }],
    ['a label of another cluster than the subject', () => pem(`${OTHER}:agent1`, OTHER, ALL), { labels }],
    ['no label', () => pem(`${OWN}:agent1`, OWN, ALL), {}],
    ['too few segments', () => pem(OWN, OWN, ALL), { labels }],
    ['too many segments', () => pem(`${OWN}:agent1:x`, OWN, ALL), { labels }],
    ['no organisation', () => pem(`${OWN}:agent1`), { labels }],
    ['an extra organisation', () => pem(`${OWN}:agent1`, OWN, ALL, 'system:authenticated'), { labels }],
    ['the group of all agents alone', () => pem(`${OWN}:agent1`, ALL), { labels }],
    [
      'the label of an add-on',
      () => pem(`${OWN}:agent1`, OWN, ALL),
      { labels: { ...labels, 'open-cluster-management.io/addon-name': 'a' } },
    ],
    ['another signer', () => pem(`${OWN}:agent1`, OWN, ALL), { labels, signerName: 'example.org/signer' }],
    [
      'subject alternative names',
      () =>
        requestPem({ subject: plainSubject(`${OWN}:agent1`, OWN, ALL), privateKey, wantsAuthority: true }),
      { labels },
    ],
  ])('has %s', async (_, make, over) => {
    const hostile = await world.ask(make(), over);
    await wasLookedAt();
    expect(await isApproved(hostile)).toBe(false);
  });

  it('was denied, and is looked at again', async () => {
    await world.stop();
    const name = await world.ask(pem(`${OWN}:agent1`, OWN, ALL), { labels });
    const csr = await world.get(CERTIFICATE_REQUEST, name);
    const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: '' }];
    if (csr !== undefined)
      await world.api.update(
        CERTIFICATE_REQUEST,
        { ...csr, status: { conditions } },
        { subresource: 'approval' },
      );
    world.start({ autoAcceptance: compileAutoAcceptance([], ['true']) });
    await wasLookedAt();
    expect(await isApproved(name)).toBe(false);
  });
});
