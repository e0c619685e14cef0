import { describe, expect, it } from 'vitest';
import { allowedBy, renderHealth } from '../../../../../src/app/cli/commands/proxy/proxy-health.ts';

const EVERYBODY = {
  verbs: ['create'],
  apiGroups: ['authorization.k8s.io'],
  resources: ['selfsubjectrulesreviews'],
};
const rule = (verbs: string, resources: string) => ({
  ...{ verbs: verbs.split(' '), apiGroups: ['*'], resources: [resources] },
});

describe('berth proxy health', () => {
  it('fits a terminal of 80 columns', async () => {
    const text = renderHealth(
      [
        {
          cluster: 'europe-west-1',
          allowed: 'all',
          since: '2026-03-01T11:59:00Z',
          roundTrip: '0.4',
          tookMs: 7,
        },
        {
          cluster: 'asia-south-2',
          allowed: 'no rule',
          since: '2026-02-14T00:00:00Z',
          roundTrip: '214.9',
          tookMs: 482,
        },
        {
          ...{ cluster: 'us-east-1', tookMs: 3 },
          problem: 'tunnel of cluster us-east-1: its agent is not connected since 2026-03-01T09:12:44.120Z',
        },
      ],
      {
        tokens: new Map([['asia-south-2', '2026-02-20T12:00:00Z']]),
        ...{ namespace: 'shop', nowMs: Date.parse('2026-03-01T12:00:00Z') },
      },
    );
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    await expect(text).toMatchFileSnapshot('golden/proxy-health.txt');
  });

  it.each([
    { name: 'nothing but questions about oneself', rules: [EVERYBODY], want: 'no rule' },
    { name: 'reading', rules: [EVERYBODY, rule('get list', 'pods')], want: 'read' },
    { name: 'one verb more', rules: [rule('get', 'pods'), rule('delete', 'pods')], want: 'write' },
    { name: 'every verb of one resource', rules: [rule('*', 'pods')], want: 'write' },
    { name: 'everything', rules: [EVERYBODY, rule('*', '*')], want: 'all' },
  ])('says $want for $name', ({ rules, want }) => expect(allowedBy(rules)).toBe(want));
});
