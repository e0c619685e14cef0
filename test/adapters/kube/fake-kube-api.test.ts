import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { describeKubeApi } from './kube-api-contract.ts';

describeKubeApi('the fake of the tests', async () => ({
  api: new FakeKubeApi(),
  close: async () => undefined,
}));
