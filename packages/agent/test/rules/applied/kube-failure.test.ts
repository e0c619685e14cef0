import { describe, expect, it } from 'vitest';
import { failureText } from '../../../src/rules/applied/kube-failure.ts';
import { errorForStatus, type KubeStatus } from '@berth/kube/transport/kube-errors';

/** A Status as kube-apiserver 1.35.4 sends it. */
const status = (code: number, message: string, reason?: string): KubeStatus => ({
  kind: 'Status',
  code,
  message,
  ...(reason !== undefined && { reason }),
});

describe('errors for refused requests', () => {
  it.each([
    {
      name: 'a field that the schema does not have is final, although it comes as 500',
      answer: status(
        500,
        'failed to create typed patch object (default/p; cluster.open-cluster-management.io/v1beta1, Kind=Placement): .spec.numberOfCluster: field not declared in schema',
      ),
      want: ['InputError', 'kube.schemamismatch'],
    },
    {
      name: 'a storage that fails comes without a reason as well, and passes',
      answer: status(500, 'etcdserver: request timed out'),
      want: ['TransientError', 'kube.internalerror'],
    },
    {
      name: 'an internal error with a reason passes, whatever it quotes',
      answer: status(500, 'failed to create typed patch object (p): no', 'InternalError'),
      want: ['TransientError', 'kube.internalerror'],
    },
    {
      name: 'an overloaded server passes',
      answer: status(429, 'too many requests', 'TooManyRequests'),
      want: ['TransientError', 'kube.toomanyrequests'],
    },
    {
      name: 'an invalid object is final',
      answer: status(422, 'no', 'Invalid'),
      want: ['InputError', 'kube.invalid'],
    },
  ])('$name', ({ answer, want }) => {
    const error = errorForStatus(answer.code ?? 0, answer, { method: 'PATCH', path: '/apis/p' });
    expect([error.name, error.code]).toEqual(want);
  });

  it('says which right is missing, and which command prints the rights', () => {
    const said =
      'pods is forbidden: User "x" cannot list resource "pods" in API group "" at the cluster scope';
    const request = { method: 'GET', path: '/api/v1/pods', rightsCommand: 'berth agent --print-rbac' };
    const error = errorForStatus(403, status(403, said, 'Forbidden'), request);
    const rights = 'berth agent --print-rbac, with the same flags, prints the rights that are needed';
    expect(error.message).toBe(`GET /api/v1/pods: the server answered 403: ${said}; ${rights}`);
    expect(failureText(error)).toBe(`${said}; ${rights}`);
    expect(failureText(errorForStatus(404, status(404, 'no', 'NotFound'), request))).toBe('no');
  });
});
