/** A server in a process of its own, for the test that kills it. */
import { startPubSub } from './server.ts';

const server = await startPubSub({ stateDir: process.argv[2]! });
process.send!(server.address);
process.on('disconnect', () => process.exit());
