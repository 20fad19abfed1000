/** Preloaded into every function process: ends it when its launcher is gone, however that one ended. */
process.on('disconnect', () => process.exit(1));
process.channel?.unref();
