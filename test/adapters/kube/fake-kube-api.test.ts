import { FakeKubeApi } from '../../fakes/fake-kube-api.ts';
import { describeKubeApi } from './kube-api-contract.ts';

describeKubeApi('the fake of the tests', async () => ({
  api: new FakeKubeApi(),
  close: async () => undefined,
}));
