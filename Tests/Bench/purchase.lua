#!lua name=perch
-- The work of a purchase, as far as Redis can do it: `perch bench … --redis --redis-script Tests/Bench/purchase.lua` calls it
-- for each change. It checks the product and the account token, numbers the transaction and the revision, keeps the
-- transaction, the account's fact and its entitlement, and publishes the new value.
--
-- It has no limits, timers, offers, subscriptions, families, idempotency or history of settings.

local uuid = '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x$'

local function buy(keys, arguments)
    local account, product, token, value = keys[1], arguments[1], arguments[2], arguments[3]
    local price = redis.call('HGET', 'products', product)
    if not price then return redis.error_reply('PURCHASE_PRODUCT_UNAVAILABLE') end
    if not string.match(token, uuid) then return redis.error_reply('REQUEST_INVALID') end
    local now = redis.call('TIME')
    local id = redis.call('INCR', 'next_transaction')
    local revision = redis.call('INCR', 'revision')
    local transaction = table.concat({id, id, product, price, 'USA', token, now[1], now[2]}, '|')
    redis.call('SET', 'transaction:' .. id, transaction)
    redis.call('RPUSH', 'facts:' .. account, revision .. '|purchased|' .. transaction)
    redis.call('HSET', 'record:' .. account, product, transaction, 'revision', revision)
    return redis.call('PUBLISH', account, value)
end

redis.register_function('buy', buy)
