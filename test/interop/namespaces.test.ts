import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordedNamespaceCase } from '../conformance/hub/namespace-cases.ts';
import {
  NAMESPACE_CASES,
  namespaceAnswer,
  readNamespaceCases,
  writeNamespaceCases,
} from '../conformance/hub/namespace-cases.ts';
import type { ControlPlane } from './peers/control-plane.ts';
import { CONTROL_PLANE_PROGRAMS, startControlPlane } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { prepareServer, WITHOUT_PLUGINS } from './real-server.ts';

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS))(
  'namespaces in metadata on a real kube-apiserver',
  () => {
    let real: ControlPlane;
    const answers: RecordedNamespaceCase[] = [];

    beforeAll(async () => {
      real = await startControlPlane([WITHOUT_PLUGINS]);
      await prepareServer(real);
      for (const one of NAMESPACE_CASES) {
        const answer = await real.client.call(one.method, one.path, one.body, one.type);
        answers.push({ ...one, want: namespaceAnswer(answer) });
      }
      if (process.env['UPDATE_GOLDEN'] === '1') writeNamespaceCases(answers);
    });
    afterAll(() => real?.stop());

    it('are answered as recorded', () => {
      expect(answers).toEqual(readNamespaceCases());
    });
  },
);
