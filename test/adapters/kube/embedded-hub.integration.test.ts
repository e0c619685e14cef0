import { startEmbeddedHub } from '../../fakes/embedded-hub.ts';
import { describeKubeApi } from './kube-api-contract.ts';

describeKubeApi('HTTPS against the embedded hub', () => startEmbeddedHub({ partSize: 3 }));
