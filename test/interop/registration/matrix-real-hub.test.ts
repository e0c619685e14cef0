import { describe } from 'vitest';
import { hasPeers } from '../peers/peer-programs.ts';
import { startRealMatrixHub } from './matrix-hub.ts';
import { lifeOfACluster } from './matrix-story.ts';

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'ocm/registration', 'ocm/work'];

describe.skipIf(!hasPeers(...PROGRAMS))('a cluster at a real hub', () =>
  lifeOfACluster(() => startRealMatrixHub()),
);
