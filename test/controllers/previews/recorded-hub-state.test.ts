import { describe, expect, it } from 'vitest';
import { readRecordedHubState } from '../../../src/controllers/previews/recorded-hub-state.ts';
import { InputError } from '@berth/runtime/errors';
import type { KubeApi } from '@berth/kube/model/kube-api';

describe('what a hub remembers', () => {
  const forbidden = (subject: string) =>
    Promise.reject(new InputError('the server answered 403', { code: 'kube.forbidden', subject }));
  const configMap = (name: string, over: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    ...over,
  });
  const record = (hash: string, placement: string, code?: string) =>
    JSON.stringify({ hash, placement, released: code === undefined ? null : { token: code, by: 'Ada' } });
  const get: KubeApi['get'] = (_kind, { name }) => {
    if (name === 'berth-b') return forbidden('GET b');
    const parent = configMap(name, { metadata: { name, annotations: { a: '1' } } });
    return Promise.resolve(name === 'berth-a' ? parent : undefined);
  };
  const list: KubeApi['list'] = () =>
    Promise.resolve({
      resourceVersion: '1',
      items: [
        configMap('one', {
          data: {
            '2.b': record('b', 'a/web', 'bbb'),
            '1.a': record('a', 'a/web', 'aaa'),
            '3.c': record('c', 'a/web'),
            '4.d': 'no record',
          },
        }),
        configMap('two', { data: { '1.a': record('d', 'b/web', 'ddd') } }),
        configMap('three'),
      ],
    });

  it('is listed by source and by placement, as far as it may be read', async () => {
    const { deletions, records } = await readRecordedHubState({ get, list } as KubeApi, ['a', 'b', 'c']);
    expect(deletions).toEqual(
      new Map<string, unknown>([
        ['a', { annotations: { a: '1' } }],
        ['b', { problem: 'GET b: the server answered 403' }],
        ['c', { annotations: {} }],
      ]),
    );
    const codes =
      'of' in records && [...records.of].map(([key, of]) => [key, of.map((one) => one.released?.token)]);
    expect(codes).toEqual([
      ['a/web', ['aaa', 'bbb', undefined]],
      ['b/web', ['ddd']],
    ]);
    const refused = { get, list: () => forbidden('GET configmaps') } as unknown as KubeApi;
    expect((await readRecordedHubState(refused, [])).records).toEqual({
      problem: 'GET configmaps: the server answered 403',
    });
  });
});
