import { expect, it } from 'vitest';
import {
  type IdentitySources,
  registrationIdentity,
} from '../../../src/registration/options/registration-identity.ts';
import { InputError } from '@berth/runtime/errors';

const NOTHING: IdentitySources = {
  clusterName: undefined,
  agentId: undefined,
  keptClusterName: undefined,
  keptAgentId: undefined,
};

it.each<[string, Partial<IdentitySources>, object]>([
  ['what is given', { clusterName: 'c1', agentId: 'a1' }, { cluster: 'c1', agent: 'a1' }],
  [
    'what is given before what is kept',
    { clusterName: 'c1', agentId: 'a1', keptClusterName: 'c2', keptAgentId: 'a2' },
    { cluster: 'c1', agent: 'a1' },
  ],
  [
    'what is kept, as a file has it',
    { keptClusterName: 'c2\n', keptAgentId: 'a2\n' },
    { cluster: 'c2', agent: 'a2' },
  ],
  [
    'something by chance',
    {},
    {
      cluster: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string,
      agent: expect.stringMatching(/^[0-9a-f]{5}$/) as string,
    },
  ],
])('an agent is %s', (_, sources, want) => {
  expect(registrationIdentity({ ...NOTHING, ...sources })).toEqual(want);
});

it.each([
  ['system:masters', 'a'],
  ['../kube-system', 'a'],
  ['c1:a2', 'a'],
  ['a.b', 'a'],
  ['C1', 'a'],
  ['-c1', 'a'],
  ['c'.repeat(64), 'a'],
  ['managed-clusters', 'a'],
  ['c1', 'a:b'],
  ['c1', 'a/b'],
  ['c1', '-'],
  ['c1', 'a'.repeat(64)],
])('refuses the cluster %s with the agent %s', (clusterName, agentId) => {
  expect(() => registrationIdentity({ ...NOTHING, clusterName, agentId })).toThrow(InputError);
});
